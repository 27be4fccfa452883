import { expect, it, test } from 'vitest';
import {
  ask,
  CREDIT,
  campaign,
  created,
  NOT_FOUND,
  NUMBERS,
  numbersFrom,
  REQUESTS,
  recipient,
  rejection,
  startWithCampaigns,
  UNKNOWN_ID,
} from '../support/campaigns.ts';
import { verification } from '../support/seeds.ts';
import { creditOf, errorOf, NUMBER, post, startWith } from './world.ts';

it('7 every reply carries X-Request-Id: the one that was given, or a new one', async () => {
  const service = await startWith();
  const given = await service.request('/info', { headers: { 'x-request-id': 'order-17:a.b_c' } });
  expect(given.headers.get('x-request-id')).toBe('order-17:a.b_c');
  const made = await service.request('/nowhere', { headers: { 'x-request-id': 'not safe!' } });
  expect(made.headers.get('x-request-id')).toMatch(/^[a-f0-9]{24}$/);
});

it('7 an unknown path is 404 with a message', async () => {
  expect(errorOf(await (await startWith()).request('/nowhere'))).toEqual({
    status: 404,
    code: 'not-found',
    body: { message: 'Not found' },
  });
});

it('7 a known path with another method is 405 with Allow', async () => {
  const reply = await (await startWith()).request('/info', { method: 'POST' });
  expect(errorOf(reply)).toMatchObject({
    status: 405,
    code: 'method-not-allowed',
    body: { message: expect.any(String) },
  });
  expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});

test.each<[what: string, body: string, status: number, code: string]>([
  ['text that is not JSON', '{"a":', 400, 'malformed-json'],
  ['JSON that nests too deep', `${'['.repeat(40)}${']'.repeat(40)}`, 400, 'nested-too-deep'],
  ['more than 32 kB', JSON.stringify({ a: 'x'.repeat(33_000) }), 413, 'body-too-large'],
])('7 a body of %s is rejected', async (_, body, status, code) => {
  const service = await startWith();
  const response = await fetch(`${await service.url}/sms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body,
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('x-error-code')).toBe(code);
});

it('7 another media type is 415', async () => {
  const reply = await post(await startWith(), verification(NUMBER), { 'content-type': 'text/plain' });
  expect(errorOf(reply)).toMatchObject({ status: 415, code: 'unsupported-media-type' });
});

it('7 an internal error is 500 with the words of the specification', async () => {
  const reply = await post(await startWith(), verification('9990000000108'));
  expect(errorOf(reply)).toEqual({
    status: 500,
    code: 'internal-error',
    body: { message: 'Internal server error' },
  });
});

it('7 the same paths are served under /api', async () => {
  const service = await startWith();
  expect((await service.request('/api/info')).body).toEqual((await service.request('/info')).body);
});

test.each(REQUESTS)(
  '7 %s %s of an unknown campaign is 404 Campaign not found',
  async (method, path, body) => {
    const request = { method, ...(body === undefined ? {} : { body }) };
    const reply = await ask(await startWithCampaigns(), `/${UNKNOWN_ID}${path}`, request);
    expect(errorOf(reply)).toEqual(NOT_FOUND);
  },
);

test.each(['recipients', 'sample'])(
  '7 more than 1000 recipients for %s are 400 with their text',
  async (path) => {
    const service = await startWithCampaigns();
    const id = await created(service);
    const recipients = numbersFrom(0, 1_001).map((number) => recipient(number));
    expect(errorOf(await ask(service, `/${id}/${path}`, { body: { recipients } }))).toEqual(
      rejection(400, 'validation-failed', 'Recipients cannot exceed 1000 per request'),
    );
  },
);

test.each(['recipients', 'sample'])('7 unsupported numbers for %s are 400 with all of them', async (path) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const unsupported = ['14155550123', '447700900123', '9990000000201'];
  const recipients = [NUMBERS[0], '905321234567', ...unsupported].map((number) => recipient(number));
  expect(errorOf(await ask(service, `/${id}/${path}`, { body: { recipients } }))).toEqual(
    rejection(400, 'unsupported-numbers', 'Some phone numbers are in countries that are not supported', {
      unsupportedPhoneNumbers: unsupported,
    }),
  );
  expect(await campaign(service, id)).toMatchObject({ totalRecipients: 0 });
  expect(await creditOf(service)).toBe(CREDIT);
});

test.each<[what: string, init: RequestInit, status: number, code: string, body: object]>([
  [
    'a body that is not JSON',
    { body: '{' },
    400,
    'malformed-json',
    { success: false, error: expect.any(String) },
  ],
  ['another method', { method: 'PUT' }, 405, 'method-not-allowed', { message: expect.any(String) }],
])(
  '7 a request about campaigns with %s has the envelope of its status',
  async (_, init, status, code, body) => {
    const service = await startWithCampaigns();
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(`${await service.url}/whatsapp/campaigns`, {
      method: 'POST',
      headers,
      ...init,
    });
    expect([response.status, response.headers.get('x-error-code')]).toEqual([status, code]);
    expect(await response.json()).toEqual(body);
  },
);
