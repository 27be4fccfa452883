import { afterEach, beforeEach, expect, it } from 'vitest';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith, verification } from '../support/seeds.ts';
import { signReport, TelegramPeer } from '../support/telegram-peer.ts';
import { NUMBER } from './world.ts';

const TOKEN = 'token-of-the-gateway';

let telegram: TelegramPeer;
beforeEach(async () => {
  process.env.TELEGRAM_TOKEN_OF_THE_TEST = TOKEN;
  telegram = new TelegramPeer({ now: () => Date.parse('2030-01-01T00:00:00Z') });
  await telegram.open();
  telegram.allow(TOKEN);
});
afterEach(() => telegram.close());

/** A live project whose codes go over Telegram, and one code that Telegram took. */
async function withCode() {
  const service = await startService({
    seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY] }),
    channels: {
      telegram: {
        providers: {
          gateway: {
            kind: 'telegram-gateway',
            token: { env: 'TELEGRAM_TOKEN_OF_THE_TEST' },
            baseUrl: telegram.url,
            callbackUrl: 'https://sms.example.com/callbacks/gateway',
          },
        },
      },
    },
  });
  const { body } = await service.request('/sms', { body: verification(NUMBER, { provider: 'telegram' }) });
  await service.advance(0);
  const { smsId } = body as { smsId: string };
  const requestId = telegram.sentTo(`+${NUMBER}`)[0]?.requestId ?? '';
  const post = async (report: unknown, token = TOKEN) => {
    const signed = signReport(token, JSON.stringify(report), service.now().getTime());
    const response = await fetch(`${await service.url}/callbacks/gateway`, { method: 'POST', ...signed });
    return { status: response.status, body: await response.text() };
  };
  const status = async () =>
    ((await service.request(`/sms/track/${smsId}`)).body as { status: string }).status;
  return { service, requestId, post, status };
}

it('4.20 POST /callbacks/{provider} takes the receipt of a provider that signed it, as often as it comes', async () => {
  const { requestId, post, status } = await withCode();
  const delivered = { request_id: requestId, delivery_status: { status: 'delivered' } };
  expect(await post(delivered)).toEqual({ status: 200, body: 'ok' });
  expect(await status()).toBe('delivered');
  expect(await post(delivered)).toEqual({ status: 200, body: 'ok' });
  expect(await status()).toBe('delivered');
});

it('4.20 POST /callbacks/{provider} changes nothing for a request that is not from the provider', async () => {
  const { service, requestId, post, status } = await withCode();
  const before = await status();
  expect(await post({ request_id: requestId, delivery_status: { status: 'expired' } }, 'another')).toEqual({
    status: 401,
    body: '{"message":"The signature is missing or wrong"}',
  });
  expect(await status()).toBe(before);
  const unknown = await service.request('/callbacks/other', { apiKey: null, body: {} });
  expect([unknown.status, unknown.headers.get('x-error-code')]).toEqual([404, 'not-found']);
});

it('4.20 POST /callbacks/{provider} acknowledges what makes no sense, so that the provider does not repeat it', async () => {
  const { post, status } = await withCode();
  const before = await status();
  expect((await post('no report')).status).toBe(200);
  expect(await status()).toBe(before);
});
