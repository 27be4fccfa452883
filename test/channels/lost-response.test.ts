import { createServer } from 'node:http';
import { expect, it, vi } from 'vitest';
import { startHarness } from '../../src/bootstrap/harness.ts';
import { portOf } from '../support/port-of.ts';
import { LIVE_KEY, seedWith } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const TOKEN = 'a token of more than sixteen';
const ATTEMPT_MS = 10 * 60_000;

it('a gateway takes a message and its response is lost: the receipt under our own id delivers it, and charges it once', async () => {
  vi.stubEnv('LOST_RESPONSE_TOKEN', TOKEN);
  const references: string[] = [];
  const gateway = createServer((request) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://gateway');
    references.push(searchParams.get('ref') ?? '');
    request.socket.destroy();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => gateway.once('listening', resolve));
  await using harness = await startHarness({
    seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY], rateLimit: null, credit: 1_000 }),
    channels: {
      sms: {
        providers: {
          gateway: {
            kind: 'http-gateway',
            secrets: { TOKEN: { env: 'LOST_RESPONSE_TOKEN' } },
            senderId: 'Barid',
            request: {
              method: 'GET',
              url: `http://127.0.0.1:${portOf(gateway)}/send`,
              query: { to: '{to}', text: '{text}', ref: '{id}' },
            },
            success: { status: [200] },
            receipts: {
              authorization: { query: 'token', value: '{secret:TOKEN}' },
              method: 'GET',
              from: 'query',
              id: '/ref',
              status: '/status',
              states: { DELIVRD: 'delivered' },
            },
          },
        },
      },
    },
  });
  const sent = await harness.request('/sms', {
    apiKey: LIVE_KEY,
    body: { phoneNumber: NUMBER, smsType: 'custom', customMessage: 'Hello', provider: 'sms' },
  });
  expect(sent.status).toBe(200);
  await harness.settle();
  expect(references).toHaveLength(1);
  const query = new URLSearchParams({
    token: TOKEN,
    ref: references[0] ?? '',
    status: 'DELIVRD',
  });
  expect((await fetch(`${await harness.url}/callbacks/gateway?${query}`)).status).toBe(200);
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
