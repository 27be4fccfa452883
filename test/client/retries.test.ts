import { afterEach, describe, expect, it, test } from 'vitest';
import {
  type BaridClientOptions,
  ConnectionError,
  createBaridClient,
  RateLimitError,
  RetryLaterError,
  type SendSms,
} from '../../src/client/client.ts';
import { BODY } from '../support/campaigns.ts';
import { errorOf, startWithClient } from '../support/client-world.ts';
import { startService } from '../support/running-service.ts';
import { type Fault, FaultyRelay } from './faulty-relay.ts';

const MESSAGE: SendSms = {
  phoneNumber: '9647701234567',
  smsType: 'verification',
  verificationCode: '123456',
};
const PRICE = 80;
const CREDIT = 15_000;

const open: FaultyRelay[] = [];
afterEach(async () => {
  for (const relay of open.splice(0)) await relay.close();
});

/** A client that reaches a service through a relay with planned faults. */
async function startBehind(faults: readonly Fault[], options: Partial<BaridClientOptions> = {}) {
  const service = await startService();
  const relay = await FaultyRelay.open(await service.url);
  open.push(relay);
  relay.plan(...faults);
  const delays: number[] = [];
  const client = createBaridClient({
    baseUrl: relay.url,
    apiKey: service.apiKey,
    clock: {
      now: () => service.now().getTime(),
      delay: async (ms) => {
        delays.push(ms);
      },
    },
    ...options,
  });
  return { service, relay, client, delays };
}

describe('a request whose reply is lost', () => {
  test.each(['drop', 'cut'] as const)(
    'a send is repeated with its key after a %s connection, and sent and charged once',
    async (fault) => {
      const { service, relay, client, delays } = await startBehind([fault, fault]);
      const sent = await client.sendSms({ ...MESSAGE, provider: 'sms' });
      expect(relay.requests.map(({ reply }) => reply)).toEqual([
        { status: 200, isReplay: false },
        { status: 200, isReplay: true },
        { status: 200, isReplay: true },
      ]);
      const keys = new Set(relay.requests.map(({ idempotencyKey }) => idempotencyKey));
      expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      expect(sent.remainingCredit).toBe(CREDIT - PRICE);
      await service.advance(1_000);
      expect(service.inbox.all().length).toBe(1);
      expect(await client.info()).toMatchObject({ credit: CREDIT - PRICE });
      expect(delays[0]).toBeGreaterThanOrEqual(125);
      expect(delays[0]).toBeLessThanOrEqual(250);
      expect(delays[1]).toBeGreaterThanOrEqual(250);
      expect(delays[1]).toBeLessThanOrEqual(500);
    },
  );

  it('two calls have two keys, and send two messages', async () => {
    const { service, relay, client } = await startBehind([]);
    await client.sendSms(MESSAGE);
    await client.sendSms(MESSAGE);
    expect(new Set(relay.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    await service.advance(1_000);
    expect(service.inbox.all().length).toBe(2);
  });

  it('a send that failed for good is made again with the key of its error, and sent once', async () => {
    const { service, client } = await startBehind(['drop', 'drop', 'drop']);
    const error = await errorOf(client.sendSms(MESSAGE));
    if (!(error instanceof ConnectionError)) throw error;
    const { idempotencyKey } = error;
    await client.sendSms(MESSAGE, { ...(idempotencyKey !== null && { idempotencyKey }) });
    await service.advance(1_000);
    expect(service.inbox.all().length).toBe(1);
  });

  it('a test number that cuts the connection is sent once', async () => {
    const { client, service, delays } = await startWithClient();
    await client.sendSms({ ...MESSAGE, phoneNumber: '9990000000110' });
    await service.advance(1_000);
    expect([delays.length, service.inbox.all().length]).toEqual(
      [2, 1].map((count, i) => (i === 0 ? 1 : count)),
    );
  });

  it('a read is repeated', async () => {
    const { relay, client } = await startBehind(['drop']);
    expect(await client.info()).toMatchObject({ credit: CREDIT });
    expect(relay.requests.length).toBe(2);
  });

  it('an operation without a key is not repeated', async () => {
    const { relay, client } = await startBehind(['drop']);
    const error = await errorOf(client.createCampaign(BODY));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ idempotencyKey: null });
    expect(relay.requests.length).toBe(1);
    expect((await client.campaigns()).data.length).toBe(1);
  });

  test.each([
    ['a change', 'PATCH'],
    ['a deletion', 'DELETE'],
  ])('%s is not repeated', async (_, method) => {
    const { relay, client } = await startBehind([]);
    const { data } = await client.createCampaign(BODY);
    relay.plan('drop');
    const call =
      method === 'PATCH'
        ? client.updateCampaign(data._id, { name: 'Other' })
        : client.deleteCampaign(data._id);
    expect(await errorOf(call)).toBeInstanceOf(ConnectionError);
    expect(relay.requests.map((request) => request.method)).toEqual(['POST', method]);
  });

  it('the attempts of a call are bounded by its settings', async () => {
    const { relay, client } = await startBehind(['drop', 'drop', 'drop', 'drop', 'drop'], {
      retries: { attemptsMax: 4 },
    });
    await expect(client.info()).rejects.toBeInstanceOf(ConnectionError);
    expect(relay.requests.length).toBe(4);
  });
});

describe('a request that the service does not do', () => {
  const SHED: Fault = {
    status: 503,
    headers: { 'retry-after': '1', 'x-error-code': 'overloaded' },
    body: '{"message":"Too many requests are being served, try again shortly"}',
  };

  test.each([503, 429])(
    'a send is repeated after a %i with a short Retry-After, and not sooner',
    async (status) => {
      const { service, client, delays } = await startBehind([{ ...SHED, status }]);
      await client.sendSms(MESSAGE);
      await service.advance(1_000);
      expect(service.inbox.all().length).toBe(1);
      expect(delays).toHaveLength(1);
      expect(delays[0]).toBeGreaterThanOrEqual(1_000);
      expect(delays[0]).toBeLessThanOrEqual(1_250);
    },
  );

  it('a call ends with the error of the service when its attempts are used up', async () => {
    const { client, relay } = await startBehind([SHED, SHED, SHED]);
    const error = await errorOf(client.sendSms(MESSAGE));
    expect(error).toBeInstanceOf(RetryLaterError);
    expect(error).toMatchObject({ status: 503, code: 'overloaded', retryAfterMs: 1_000 });
    expect(relay.requests.length).toBe(3);
  });

  test.each<[string, Fault]>([
    ['a long Retry-After', { ...SHED, headers: { 'retry-after': '6' } }],
    ['no Retry-After', { ...SHED, headers: {} }],
    ['a date as Retry-After', { ...SHED, headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' } }],
    ['another error', { status: 500 }],
  ])('a send is not repeated after %s', async (_, fault) => {
    const { client, relay } = await startBehind([fault]);
    await errorOf(client.sendSms(MESSAGE));
    expect(relay.requests.length).toBe(1);
  });

  it('the rate limit of a phone number is not waited for', async () => {
    const { client, delays } = await startWithClient();
    await expect(client.sendSms({ ...MESSAGE, phoneNumber: '9990000000106' })).rejects.toBeInstanceOf(
      RateLimitError,
    );
    expect(delays).toEqual([]);
  });

  it('an operation without a key is not repeated after a 503', async () => {
    const { client, relay } = await startBehind([SHED]);
    await expect(client.createCampaign(BODY)).rejects.toBeInstanceOf(RetryLaterError);
    expect(relay.requests.length).toBe(1);
  });

  it('a wait for the final status goes on while the service is away', async () => {
    const { service, client, relay } = await startBehind([]);
    const { smsId } = await client.sendSms(MESSAGE);
    await service.advance(1_000);
    relay.plan('drop', 'drop', 'drop', SHED, { ...SHED, headers: {} });
    expect(await client.waitUntilFinal(smsId)).toMatchObject({ status: 'delivered' });
  });
});

describe('a request that takes too long', () => {
  it('an attempt without a reply ends at its time, and the send is repeated and sent once', async () => {
    const { service, client } = await startBehind(['hang'], { timeoutMs: 500 });
    await client.sendSms(MESSAGE);
    await service.advance(1_000);
    expect(service.inbox.all().length).toBe(1);
  });

  it('a call ends with an error that names the time', async () => {
    const { client } = await startBehind(['hang'], { retries: { attemptsMax: 1 } });
    const error = await errorOf(client.info({ timeoutMs: 100 }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: 'GET /info: no whole reply within 100 ms' });
  });

  it('a call ends at once with the reason of its signal, and is not repeated', async () => {
    const { client, relay, delays } = await startBehind(['hang']);
    const controller = new AbortController();
    const reason = new Error('The user left');
    const call = errorOf(client.sendSms(MESSAGE, { signal: controller.signal }));
    await expect.poll(() => relay.requests.length).toBe(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(relay.requests.length).toBe(1);
    expect(delays).toEqual([]);
  });

  it('a call with a signal that is aborted already makes no request', async () => {
    const { client, relay } = await startBehind([]);
    const reason = new Error('Too late');
    expect(await errorOf(client.info({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(relay.requests).toEqual([]);
  });
});
