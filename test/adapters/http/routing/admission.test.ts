import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { anyone, operatorToken, providerSignature } from '../../../../src/adapters/http/routing/admission.ts';
import { usualEnvelope } from '../../../../src/adapters/http/routing/http-error.ts';
import { ok } from '../../../../src/adapters/http/routing/http-reply.ts';
import { type RouteFamily, route } from '../../../../src/adapters/http/routing/route.ts';
import { HttpWorld } from '../http-world.ts';

const TOKEN = 'operator-token-of-the-test';
const APP_SECRET = 'app-secret';
const SIGNATURE = 'X-Hub-Signature-256';
const JSON_HEADERS = { 'content-type': 'application/json' };

const done = { description: 'Done', schema: z.object({ done: z.boolean() }) };
const handled: unknown[] = [];

function isSigned(body: Buffer, headers: IncomingHttpHeaders): boolean {
  const given = Buffer.from(String(headers['x-hub-signature-256']));
  const expected = Buffer.from(signatureOf(body));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function signatureOf(body: string | Buffer): string {
  return `sha256=${createHmac('sha256', APP_SECRET).update(body).digest('hex')}`;
}

const signedBytes = route({
  method: 'post',
  path: '/signed/bytes',
  operationId: 'signedBytes',
  summary: 'Take signed bytes',
  description: 'For a test',
  admission: providerSignature(SIGNATURE, isSigned),
  rawBody: { description: 'Whatever the provider sends', mediaType: 'application/octet-stream' },
  bodyBytesMax: 1_000,
  ok: done,
  async handle({ bytes }) {
    handled.push(bytes);
    return ok({ done: true });
  },
});
const signedJson = route({
  method: 'post',
  path: '/signed/json',
  operationId: 'signedJson',
  summary: 'Take signed JSON',
  description: 'For a test',
  admission: providerSignature(SIGNATURE, isSigned),
  body: z.object({ id: z.string({ error: 'id is required' }) }),
  rejections: { 400: { description: 'Not well formed' } },
  ok: done,
  async handle({ body, bytes }) {
    handled.push(body, bytes.toString());
    return ok({ done: true });
  },
});
const open = route({
  method: 'post',
  path: '/open',
  operationId: 'open',
  summary: 'Take anything from anyone',
  description: 'For a test',
  admission: anyone,
  query: z.object({ page: z.string() }),
  body: z.object({ id: z.string() }),
  ok: done,
  async handle({ caller, query, body }) {
    handled.push(caller, query, body);
    return ok({ done: true });
  },
});
const guardedBy = (token: string | null) =>
  route({
    method: 'get',
    path: '/operator',
    operationId: 'operator',
    summary: 'Read everything',
    description: 'For a test',
    admission: operatorToken(token),
    ok: done,
    handle: async () => ok({ done: true }),
  });

let world: HttpWorld;
beforeEach(() => start(TOKEN));
afterEach(() => world.close());

async function start(token: string | null): Promise<void> {
  handled.length = 0;
  const routes = [signedBytes, signedJson, open, guardedBy(token)];
  const family: RouteFamily = {
    tag: { name: 'Test', description: 'For a test' },
    envelope: usualEnvelope,
    routes,
  };
  world = await new HttpWorld({ families: [family] }).open();
}

const post = (path: string, body: string | Buffer, headers: Record<string, string>) =>
  world.call('POST', path, { keyless: true, body, headers });

describe("a provider's signature", () => {
  const BYTES = Buffer.from([0, 255, 13, 10, 195, 40]);
  const OCTETS = { 'content-type': 'application/octet-stream' };

  it('gives the handler the very bytes that a provider signed', async () => {
    const reply = await post('/signed/bytes', BYTES, { ...OCTETS, [SIGNATURE]: signatureOf(BYTES) });
    expect(reply.status).toBe(200);
    expect(handled).toEqual([BYTES]);
  });

  it('gives a JSON route the parsed body and the bytes that a provider signed', async () => {
    const body = '{"id" : "7"}';
    const reply = await post('/signed/json', body, { ...JSON_HEADERS, [SIGNATURE]: signatureOf(body) });
    expect(reply.status).toBe(200);
    expect(handled).toEqual([{ id: '7' }, body]);
  });

  test.each([
    ['missing', {}],
    ['of other bytes', { [SIGNATURE]: signatureOf('other') }],
  ])('rejects a signature that is %s with 401 before it parses the body', async (_, headers) => {
    const reply = await post('/signed/json', 'no JSON', { ...JSON_HEADERS, ...headers });
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual({ message: 'The signature is missing or wrong' });
    expect(reply.headers['www-authenticate']).toBe('Signature');
    expect(handled).toEqual([]);
  });

  it('rejects signed JSON that is not well formed with 400', async () => {
    const reply = await post('/signed/json', '{}', { ...JSON_HEADERS, [SIGNATURE]: signatureOf('{}') });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error: 'id is required' });
  });

  it('reads no more of an unsigned body than the route allows', async () => {
    const reply = await post('/signed/bytes', Buffer.alloc(1_001), OCTETS);
    expect(reply.status).toBe(413);
  });

  it('rejects another media type than the route declares with 415', async () => {
    const reply = await post('/signed/bytes', 'x', { ...JSON_HEADERS, [SIGNATURE]: signatureOf('x') });
    expect(reply.status).toBe(415);
    expect(reply.body).toEqual({
      message: 'The request body must be application/octet-stream, without compression',
    });
  });

  it('documents the header and the errors of a signature', () => {
    const { paths, components } = world.http.openApi;
    expect(paths['/signed/bytes']?.post?.security).toEqual([{ [SIGNATURE]: [] }]);
    expect(components.securitySchemes?.[SIGNATURE]).toMatchObject({ type: 'apiKey', in: 'header' });
    expect(Object.keys(paths['/signed/bytes']?.post?.responses ?? {})).toEqual([
      '200',
      '401',
      '413',
      '415',
      '500',
      '503',
    ]);
  });
});

describe('the operator token', () => {
  const withToken = (authorization: string) =>
    world.call('GET', '/operator', { keyless: true, headers: { authorization } });

  it('admits the operator by a bearer token', async () => {
    expect((await withToken(`Bearer ${TOKEN}`)).status).toBe(200);
  });

  test.each(['', 'Bearer', 'Bearer other', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `Bearer ${TOKEN.slice(1)}`])(
    'rejects an operator with Authorization: %j with 401',
    async (authorization) => {
      const reply = await withToken(authorization);
      expect(reply.status).toBe(401);
      expect(reply.body).toEqual({ message: 'Unauthorized, please use the operator token' });
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    },
  );

  test.each(['', 'Bearer ', `Bearer ${TOKEN}`, 'Bearer null'])(
    'replies 404 when no operator token is configured, whatever the header says: %j',
    async (authorization) => {
      await world.close();
      await start(null);
      const reply = await withToken(authorization);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual({ message: 'Not found' });
    },
  );

  it('admits nobody when the configured operator token is empty', async () => {
    await world.close();
    await start('');
    expect((await withToken('')).status).toBe(404);
  });
});

describe('a route for anyone', () => {
  it('gives a route for anyone its query and body without a credential', async () => {
    const reply = await post('/open?page=2', '{"id":"7"}', JSON_HEADERS);
    expect(reply.status).toBe(200);
    expect(handled).toEqual([null, { page: '2' }, { id: '7' }]);
    expect(world.http.openApi.paths['/open']?.post?.security).toEqual([]);
  });
});
