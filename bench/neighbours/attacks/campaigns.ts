import { setTimeout as sleep } from 'node:timers/promises';
import { load, postTo } from '../../../test/support/http-load.ts';
import { LOAD_API_KEY, LOAD_NUMBER_ID, LOAD_TEMPLATE_ID } from '../../../test/support/load-seed.ts';
import { CAMPAIGNERS, type Campaigner } from '../seed.ts';
import type { Target } from './target.ts';

/** So many campaigns run at a time. One after the other, at the rate of their number, they take so many milliseconds. */
const CAMPAIGNS = 20;
const CAMPAIGNS_MS = 20_000;
const RECIPIENTS = 1_000;
const LARGE_BODY_CONNECTIONS = 8;
const FAR_TOO_MANY_MEMBERS = 190;
/** Two less than the members that each of a thousand recipients may have. */
const ALMOST_TOO_MANY_MEMBERS = 26;
/** A thousand recipients of this size are almost 4 MB, and a member without its value is no longer than that. */
const RECIPIENT_BYTES = 4_000;
const MEMBER_BYTES = 13;
/** A thousand parameters with this value are almost 1 MB. */
const LARGE_VALUE = 'x'.repeat(1_000);
const LOAD_CAMPAIGNER: Campaigner = {
  apiKey: LOAD_API_KEY,
  numberId: LOAD_NUMBER_ID,
  templateId: LOAD_TEMPLATE_ID,
};

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

/**
 * Many projects at once: each fills a campaign with almost as many bytes as one may have, and when the last one is full all of
 * them start, over and over. Resolves with the number of starts.
 */
export async function runLargeCampaigns({ port, seconds }: Target): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let started = 0;
  while (performance.now() < end) {
    const recipients = recipientsFrom(started * RECIPIENTS, LARGE_VALUE);
    const starts = await Promise.all(CAMPAIGNERS.map((each) => fillCampaign(port, each, recipients)));
    await Promise.all(starts.map((start) => start()));
    started += starts.length;
  }
  return started;
}

/**
 * Appends recipients in requests of almost 4 MB, over and over, which are all rejected: in turn with more members than a body may
 * have, and with almost as many. Resolves with their number.
 */
export async function sendLargeBodies({ port, seconds }: Target): Promise<number> {
  const post = postTo(`/whatsapp/campaigns/${LOAD_TEMPLATE_ID}/recipients`, LOAD_API_KEY);
  const requests = [manyMembers(FAR_TOO_MANY_MEMBERS), manyMembers(ALMOST_TOO_MANY_MEMBERS)].map(post);
  let sent = 0;
  const makeRequest = (): Buffer => {
    sent += 1;
    return requests[sent % requests.length] as Buffer;
  };
  const { responses } = await load({ port, seconds, connections: LARGE_BODY_CONNECTIONS, makeRequest });
  return responses;
}

/** Recipients with so many unknown members each. The last of them has no phone number. */
function manyMembers(members: number): string {
  const recipients = Array.from({ length: RECIPIENTS }, (_, index) => recipientAt(index, members));
  return JSON.stringify({ recipients: [...recipients.slice(1), {}] });
}

function recipientAt(index: number, members: number): object {
  const filler = 'x'.repeat(Math.floor(RECIPIENT_BYTES / members) - MEMBER_BYTES);
  const unknown = Array.from({ length: members }, (_, member) => [`m${index % 7}_${member}`, filler]);
  return { phoneNumber: `9647${String(index).padStart(9, '0')}`, ...Object.fromEntries(unknown) };
}

/** Starts a campaign; `first` is the number of its first recipient. */
async function runCampaign(port: number, first: number): Promise<void> {
  const start = await fillCampaign(port, LOAD_CAMPAIGNER, recipientsFrom(first, 'Layla'));
  await start();
}

function recipientsFrom(first: number, value: string): readonly object[] {
  return Array.from({ length: RECIPIENTS }, (_, index) => ({
    phoneNumber: `9647${String(first + index).padStart(9, '0')}`,
    templateParameters: { body: { 1: value } },
  }));
}

/** Resolves with what starts the campaign. */
async function fillCampaign(
  port: number,
  { apiKey, numberId, templateId }: Campaigner,
  recipients: readonly object[],
): Promise<() => Promise<void>> {
  const plan = { name: 'Attack', templateId, phoneNumberId: numberId };
  const { data } = await postJson(port, '/whatsapp/campaigns', apiKey, plan);
  await postJson(port, `/whatsapp/campaigns/${data._id}/recipients`, apiKey, { recipients });
  return async () => {
    await postJson(port, `/whatsapp/campaigns/${data._id}/start`, apiKey, undefined);
  };
}

async function postJson(
  port: number,
  path: string,
  apiKey: string,
  body: unknown,
): Promise<{ data: { _id: string } }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { data: { _id: string } };
}
