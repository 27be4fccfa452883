import { inspect } from 'node:util';
import { expect, it, test } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import * as everything from '../../src/client/client.ts';
import {
  AddressNotAllowedError,
  BaridError,
  ConnectionError,
  createBaridClient,
  IdempotencyConflictError,
  InsufficientCreditError,
  NotFoundError,
  RateLimitError,
  RetryLaterError,
  SenderIdError,
  type SendSms,
  SpendingThresholdError,
  TrialModeError,
  UnauthorizedError,
  UnsupportedNumbersError,
  ValidationError,
} from '../../src/client/client.ts';
import { BODY, campaignSeed, recipient } from '../support/campaigns.ts';
import { type ClientWorld, errorOf, startWithClient } from '../support/client-world.ts';
import { seedWith } from '../support/seeds.ts';

const MESSAGE: SendSms = { phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'hello' };
const to = (phoneNumber: string): SendSms => ({ ...MESSAGE, phoneNumber });

interface Case {
  readonly Class: typeof BaridError;
  readonly harness?: HarnessOptions;
  readonly call: (world: ClientWorld) => Promise<unknown>;
  readonly shows: Readonly<Record<string, unknown>>;
}

const send =
  (message: SendSms) =>
  ({ client }: ClientWorld) =>
    client.sendSms(message);

/** Every class, as the service makes the client throw it. */
const CASES: readonly Case[] = [
  {
    Class: ValidationError,
    call: send(to('12')),
    shows: {
      status: 400,
      code: 'validation-failed',
      message: expect.stringMatching(/^POST \/sms: 400 .*phone/),
    },
  },
  {
    Class: InsufficientCreditError,
    harness: { seed: seedWith({ credit: 79 }) },
    call: send({ ...MESSAGE, provider: 'sms' }),
    shows: { status: 400, code: 'insufficient-credit', yourCredit: 79, requiredCredit: 80 },
  },
  {
    Class: SpendingThresholdError,
    harness: { seed: seedWith({ spendingThreshold: 79 }) },
    call: send({ ...MESSAGE, provider: 'sms' }),
    shows: { status: 400, code: 'spending-threshold', currentSpending: 0, spendingThreshold: 79, cost: 80 },
  },
  {
    Class: SenderIdError,
    call: send({ ...MESSAGE, senderId: 'Nobody' }),
    shows: { status: 400, code: 'sender-id-not-found', body: { error: 'SenderID not found' } },
  },
  {
    Class: SenderIdError,
    call: send(to('9990000000104')),
    shows: { status: 400, code: 'sender-id-not-accepted' },
  },
  {
    Class: TrialModeError,
    harness: { seed: seedWith({ trial: { ownPhoneNumber: '9647801234567' } }) },
    call: send(MESSAGE),
    shows: { status: 400, code: 'trial-mode' },
  },
  {
    Class: UnsupportedNumbersError,
    harness: { seed: campaignSeed() },
    call: async ({ client }) => {
      const { data } = await client.createCampaign(BODY);
      const recipients = [recipient('9990000000201')] as Parameters<
        typeof client.attachRecipients
      >[1]['recipients'];
      return client.attachRecipients(data._id, { recipients });
    },
    shows: { status: 400, code: 'unsupported-numbers', unsupportedPhoneNumbers: ['9990000000201'] },
  },
  {
    Class: UnauthorizedError,
    call: async ({ service }) =>
      createBaridClient({ baseUrl: await service.url, apiKey: 'sk_dev_wrong' }).info(),
    shows: {
      status: 401,
      code: 'unauthorized',
      message: 'GET /info: 401 Unauthorized, please use your project api key',
      idempotencyKey: null,
    },
  },
  {
    Class: AddressNotAllowedError,
    harness: { seed: seedWith({ allowedIps: ['192.0.2.1'] }) },
    call: ({ client }) => client.whatsappResources(),
    shows: { status: 403, code: 'ip-not-allowed', body: { message: 'This IP address is not allowed' } },
  },
  {
    Class: NotFoundError,
    call: ({ client }) => client.trackSms('sms-0123456789abcdef01234567'),
    shows: { status: 404, code: 'message-not-found' },
  },
  {
    Class: IdempotencyConflictError,
    call: async ({ client }) => {
      await client.sendSms(MESSAGE, { idempotencyKey: 'order-17' });
      await client.sendSms({ ...MESSAGE, customMessage: 'other' }, { idempotencyKey: 'order-17' });
    },
    shows: { status: 409, code: 'idempotency-conflict', idempotencyKey: 'order-17' },
  },
  {
    Class: RateLimitError,
    call: send(to('9990000000106')),
    shows: {
      status: 429,
      code: 'rate-limited',
      waitMinutes: 10,
      maxRequests: 5,
      timeWindowMinutes: 10,
      retryAfterMs: 600_000,
    },
  },
  {
    Class: BaridError,
    call: send(to('9990000000108')),
    shows: { status: 500, code: 'internal-error', message: 'POST /sms: 500 Internal server error' },
  },
  {
    Class: ConnectionError,
    call: async ({ service }) => {
      const baseUrl = await service.url;
      await service.close();
      const clock = { now: () => 0, delay: async () => {} };
      return createBaridClient({ baseUrl, apiKey: DEMO_API_KEY, clock }).info();
    },
    shows: { status: null, code: null, message: 'GET /info: no whole reply: ECONNREFUSED' },
  },
];

test.each(CASES)('the client throws $Class.name with what the service replied', async (each) => {
  const world = await startWithClient({}, each.harness);
  const error = await errorOf(each.call(world));
  expect(error).toBeInstanceOf(BaridError);
  expect(Object(error).constructor).toBe(each.Class);
  expect(error).toMatchObject({ ...each.shows, name: each.Class.name });
  expect(inspect(error, { depth: null })).not.toContain(DEMO_API_KEY);
});

it('every class of errors is seen in a test', () => {
  const classes = Object.values(everything).filter(
    (value) => typeof value === 'function' && value.prototype instanceof BaridError,
  );
  // The service replies so under load only: retries.test.ts plans it.
  const seen = new Set<unknown>([...CASES.map(({ Class }) => Class), RetryLaterError]);
  expect(classes.filter((each) => !seen.has(each))).toEqual([]);
  expect(classes.length).toBeGreaterThan(10);
});

test.each([
  ['a page of a gateway', 502, '<h1>Bad gateway</h1>', BaridError, 'GET /info: 502'],
  ['a page with status 200', 200, '<h1>Welcome</h1>', BaridError, 'GET /info: 200 the reply is no JSON'],
  ['a redirect', 302, '', BaridError, 'GET /info: 302'],
  ['a 404 of a gateway', 404, 'no such site', NotFoundError, 'GET /info: 404'],
  ['JSON that is no object', 500, '"down"', BaridError, 'GET /info: 500'],
])(
  'the client throws an error for what is no reply of the service: %s',
  async (_, status, text, Class, message) => {
    const client = createBaridClient({
      baseUrl: 'https://barid.example',
      apiKey: DEMO_API_KEY,
      fetch: async () => new Response(text, { status }),
    });
    const error = await errorOf(client.info());
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({ status, code: null, requestId: null, message });
  },
);

test.each([
  ['in JSON', () => Response.json({ message: `No project has the key ${DEMO_API_KEY}` }, { status: 401 })],
  ['in a page', () => new Response(`<pre>Authorization: Bearer ${DEMO_API_KEY}</pre>`, { status: 502 })],
])('a reply that repeats the key %s does not bring it into the error', async (_, fetch) => {
  const client = createBaridClient({
    baseUrl: 'https://barid.example',
    apiKey: DEMO_API_KEY,
    fetch: async () => fetch(),
  });
  const error = await errorOf(client.info());
  expect(`${inspect(error, { depth: null })} ${JSON.stringify(error)}`).not.toContain(DEMO_API_KEY);
  expect(JSON.stringify(error)).toContain('***');
});
