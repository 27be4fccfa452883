import { expect, it, test } from 'vitest';
import { verification } from '../support/seeds.ts';
import { errorOf, NUMBER, post, startWith } from './world.ts';

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
