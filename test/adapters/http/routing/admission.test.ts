import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { anyone, operatorToken } from '../../../../src/adapters/http/routing/admission.ts';
import { usualEnvelope } from '../../../../src/adapters/http/routing/http-error.ts';
import { ok } from '../../../../src/adapters/http/routing/http-reply.ts';
import { type RouteFamily, route } from '../../../../src/adapters/http/routing/route.ts';
import { HttpWorld } from '../http-world.ts';

const TOKEN = 'operator-token-of-the-test';
const JSON_HEADERS = { 'content-type': 'application/json' };

const done = { description: 'Done', schema: z.object({ done: z.boolean() }) };
const handled: unknown[] = [];

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
  const routes = [open, guardedBy(token)];
  const family: RouteFamily = {
    tag: { name: 'Test', description: 'For a test' },
    envelope: usualEnvelope,
    routes,
  };
  world = await new HttpWorld({ families: [family] }).open();
}

const post = (path: string, body: string | Buffer, headers: Record<string, string>) =>
  world.call('POST', path, { keyless: true, body, headers });

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
