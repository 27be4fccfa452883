import { setTimeout as sleep } from 'node:timers/promises';
import { LOAD_API_KEY, LOAD_NUMBER_ID, LOAD_TEMPLATE_ID } from '../../../test/support/load-seed.ts';
import type { Target } from './target.ts';

/** So many campaigns run at a time. One after the other, at the rate of their number, they take so many milliseconds. */
const CAMPAIGNS = 20;
const CAMPAIGNS_MS = 20_000;
const RECIPIENTS = 1_000;

/** Starts campaigns as fast as their number can send; resolves with the number of recipients. */
export async function runCampaigns({ port, seconds }: Target): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let started = 0;
  while (performance.now() < end) {
    const next = performance.now() + CAMPAIGNS_MS;
    for (let index = 0; index < CAMPAIGNS; index += 1) {
      await runCampaign(port, started * RECIPIENTS);
      started += 1;
    }
    await sleep(Math.max(0, next - performance.now()));
  }
  return started * RECIPIENTS;
}

/** Starts a campaign; `first` is the number of its first recipient. */
async function runCampaign(port: number, first: number): Promise<void> {
  const plan = { name: 'Attack', templateId: LOAD_TEMPLATE_ID, phoneNumberId: LOAD_NUMBER_ID };
  const { data } = await postJson(port, '/whatsapp/campaigns', plan);
  const recipients = Array.from({ length: RECIPIENTS }, (_, index) => ({
    phoneNumber: `9647${String(first + index).padStart(9, '0')}`,
    templateParameters: { body: { 1: 'Layla' } },
  }));
  await postJson(port, `/whatsapp/campaigns/${data._id}/recipients`, { recipients });
  await postJson(port, `/whatsapp/campaigns/${data._id}/start`, undefined);
}

async function postJson(port: number, path: string, body: unknown): Promise<{ data: { _id: string } }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LOAD_API_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { data: { _id: string } };
}
