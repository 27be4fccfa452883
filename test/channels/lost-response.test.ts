import { createServer } from 'node:http';
import { expect, it, vi } from 'vitest';
import { startHarness } from '../../src/bootstrap/harness/harness.ts';
import { ownIdGateway, RECEIPTS_TOKEN, receiptPath } from '../support/own-id-gateway.ts';
import { portOf } from '../support/port-of.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const ATTEMPT_MS = 10 * 60_000;

it('a gateway takes a message and its response is lost: the receipt under our own id delivers it, and charges it once', async () => {
  vi.stubEnv('LOST_RESPONSE_TOKEN', RECEIPTS_TOKEN);
  const references: string[] = [];
  const gateway = createServer((request) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://gateway');
    references.push(searchParams.get('ref') ?? '');
    request.socket.destroy();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => gateway.once('listening', resolve));
  await using harness = await startHarness({
    seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY], rateLimit: null, credit: 1_000 }),
    channels: ownIdGateway(portOf(gateway), 'LOST_RESPONSE_TOKEN'),
  });
  const sent = await harness.request('/sms', {
    apiKey: LIVE_KEY,
    body: { phoneNumber: NUMBER, smsType: 'custom', customMessage: 'Hello', provider: 'sms' },
  });
  expect(sent.status).toBe(200);
  await harness.settle();
  expect(references).toHaveLength(1);
  const receipt = await fetch((await harness.url) + receiptPath(references[0] ?? '', 'DELIVRD'));
  expect(receipt.status).toBe(200);
  await harness.advance(ATTEMPT_MS);
  const { smsId, cost } = sent.body as { smsId: string; cost: number };
  expect(await harness.request(`/sms/track/${smsId}`, { apiKey: LIVE_KEY })).toMatchObject({
    body: { status: 'delivered' },
  });
  expect(await harness.request('/info', { apiKey: LIVE_KEY })).toMatchObject({
    body: { credit: 1_000 - cost },
  });
  await harness.assertQuiet();
  gateway.close();
  vi.unstubAllEnvs();
});
