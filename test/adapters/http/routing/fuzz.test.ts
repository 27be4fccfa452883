import { Agent, request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Rejected, type Rejection } from '../../../../src/application/errors/rejected.ts';
import { DEMO_API_KEY } from '../../../../src/bootstrap/config/demo-seed.ts';
import { iqd } from '../../../../src/domain/shared/money.ts';
import {
  aMessage,
  anInternationalPrice,
  anSmsId,
  aSenderId,
  aWhatsappBusiness,
} from '../../../support/builders.ts';
import { HttpWorld } from '../http-world.ts';

const RUNS = 3_000;
const TIMEOUT_MS = 120_000;

const REJECTIONS: readonly Rejection[] = [
  { kind: 'idempotency-conflict' },
  { kind: 'sender-id-not-found' },
  { kind: 'trial-mode' },
  { kind: 'rate-limited', waitMinutes: 3, maxRequests: 5, timeWindowMinutes: 10 },
  { kind: 'spending-threshold', currentSpending: iqd(1), spendingThreshold: iqd(2), cost: iqd(3) },
  { kind: 'insufficient-credit', yourCredit: iqd(1), requiredCredit: iqd(2) },
  { kind: 'template-parameter-missing', path: 'templateParameters.body.1' },
];

let world: HttpWorld;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  world = await new HttpWorld().open();
  world.api.messages.set(anSmsId(1), aMessage());
  world.api.senders = [aSenderId()];
  world.api.prices = [anInternationalPrice()];
  world.api.businesses = [aWhatsappBusiness()];
});
afterAll(async () => {
  agent.destroy();
  await world.close();
});

const nasty = fc.constantFrom(
  '',
  '\u0000',
  '\ud800',
  '😀'.repeat(6),
  '\u202e',
  '__proto__',
  'x'.repeat(1001),
  '../..',
  "' or 1=1 --",
  '%ff',
  '{{1}}',
  'NaN',
  '1e999',
  '-0',
  'https://a@b/',
  'https://example.com',
  'sms',
  'whatsapp-template',
  'auto',
);
const anyValue = fc.oneof(
  { weight: 3, arbitrary: nasty },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown> },
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.double(),
  fc.integer(),
);
const good = {
  phoneNumber: fc.stringMatching(/^[0-9]{10,15}$/),
  smsType: fc.constantFrom('verification', 'custom', 'whatsapp-template'),
  verificationCode: fc.stringMatching(/^[A-Z0-9]{1,20}$/),
  customMessage: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
  senderId: fc.stringMatching(/^[A-Za-z]{1,11}$/),
  provider: fc.constantFrom('auto', 'whatsapp-sms', 'telegram-sms', 'sms', 'whatsapp', 'telegram'),
  whatsappAccountId: fc.constant('664def000000000000000002'),
  whatsappPhoneId: fc.constant('664def000000000000000003'),
  templateName: fc.constant('order_update'),
  templateParameters: fc.record({ body: fc.dictionary(fc.stringMatching(/^[0-9]$/), fc.string()) }),
  deliveryReport: fc.record({ webhookUrl: fc.webUrl({ validSchemes: ['https'] }) }),
};
/** Mostly well formed, with some fields missing and some replaced by anything. */
const sendBody = fc
  .tuple(
    fc.record(good, { requiredKeys: ['phoneNumber', 'smsType'] }),
    fc.dictionary(fc.constantFrom(...Object.keys(good)), anyValue, { maxKeys: 1 }),
  )
  .map(([valid, broken]) => JSON.stringify({ ...valid, ...broken }));
const bodyText = fc.oneof(
  { weight: 6, arbitrary: sendBody.map((text) => Buffer.from(text)) },
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => Buffer.from('['.repeat(depth))),
);
const queryValue = fc.oneof(
  fc.integer({ min: -2, max: 1_000_002 }).map(String),
  fc.constantFrom('1', '500', '501', 'TR', 'tr', 'true', 'FALSE', '%ff', '[', '', '1e3', '%00'),
  fc.string({ maxLength: 5 }).map(encodeURIComponent),
);
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('page', 'limit', 'countryIso', 'includeTemplateComponents', 'x', 'page[]'),
      queryValue,
    ),
    { maxLength: 3 },
  )
  .map((pairs) =>
    pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`,
  );
const path = fc.oneof(
  // Often enough that each rejection of a send comes up.
  { weight: 6, arbitrary: fc.constant('/sms') },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '/sms',
      '/info',
      '/sender-ids',
      '/international-sms-pricing',
      '/whatsapp/resources',
      '/healthz',
      '/readyz',
      '/openapi.json',
      `/sms/track/${anSmsId(1)}`,
      '/SMS/',
      '/sms/track/%ff',
    ),
  },
  fc
    .array(fc.stringMatching(/^[A-Za-z0-9%._~!*'()-]{0,12}$/), { maxLength: 4 })
    .map((parts) => `/${parts.join('/')}`),
);
const call = fc.record({
  method: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('GET', 'POST') },
    fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'),
  ),
  path: fc.tuple(fc.constantFrom('', '/api'), path, query).map((parts) => parts.join('')),
  authorization: fc.oneof(
    { weight: 9, arbitrary: fc.constant(`Bearer ${DEMO_API_KEY}`) },
    fc.constantFrom('', 'Bearer x', 'Basic eA=='),
  ),
  contentType: fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    fc.constantFrom('', 'text/plain', 'application/json; charset=utf-16'),
  ),
  idempotencyKey: fc.option(fc.constantFrom('key-1', 'k'.repeat(256), 'two words'), { freq: 5 }),
  requestId: fc.option(fc.constantFrom('mine', 'x'.repeat(200), '<b>'), { freq: 5 }),
  rejection: fc.option(fc.constantFrom(...REJECTIONS), { freq: 5 }),
  body: bodyText,
});

type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;

function send(given: Call): Promise<number> {
  const { method, idempotencyKey, requestId, contentType, authorization, body } = given;
  const headers = {
    authorization,
    'content-type': contentType,
    ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
    ...(requestId !== null && { 'x-request-id': requestId }),
    ...(method !== 'TRACE' && { 'content-length': body.length }),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      agent,
      port: world.port,
      host: '127.0.0.1',
      method,
      path: given.path,
      headers,
    });
    request.on('error', reject).on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.end(method === 'TRACE' ? undefined : body);
  });
}

it(
  `replies to ${RUNS} arbitrary requests as documented, and never with a fault`,
  async () => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(call, async (given) => {
        world.api.sendRejection = given.rejection;
        const status = await send(given);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(status).toBeLessThan(500);
        if (world.undocumented.length > 0) throw world.undocumented.splice(0)[0];
        expect(world.logger.entriesBesideRequests).toEqual([]);
        for (const { request } of world.api.sent.splice(0))
          expect(request.phoneNumber).toMatch(/^[0-9]{10,15}$/);
      }),
      { numRuns: RUNS },
    );
    // The generator reaches every kind of reply.
    expect([...statuses.keys()].sort()).toEqual([200, 400, 401, 404, 405, 409, 415, 429]);
  },
  TIMEOUT_MS,
);

it('the fuzz test notices a planted fault', async () => {
  world.api.fault = new Error('planted');
  world.api.sendRejection = null;
  expect((await world.call('GET', '/info')).status).toBe(500);
  world.api.fault = new Rejected({ kind: 'trial-mode' });
  expect((await world.call('GET', '/info')).status).toBe(400);
  expect(String(world.undocumented.splice(0)[0])).toContain('GET /info 400: this status is not documented');
  world.api.fault = null;
});
