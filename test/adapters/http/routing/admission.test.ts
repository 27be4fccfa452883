import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { z } from 'zod';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { ok } from '../../../../src/adapters/http/replies/http-reply.ts';
import {
  ADMISSION_FRESH_MS,
  anyone,
  operatorToken,
} from '../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';
import type { RouteFamily } from '../../../../src/adapters/http/routing/route-declaration.ts';
import { DEMO_API_KEY } from '../../../../src/bootstrap/config/demo-seed.ts';
import { until } from '../../../support/until.ts';
import { HttpWorld } from '../http-world.ts';
import { RawConnection } from '../raw-connection.ts';

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

describe('a caller whose body is long on its way', () => {
  const body = JSON.stringify({ phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'Hello' });
  const head = [
    'POST /sms HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${DEMO_API_KEY}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n');

  /** Sends all but the end of the body, and the end so many milliseconds later. */
  async function sendSlowly(sending: HttpWorld, ms: number, meanwhile: () => void = () => {}) {
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const connection = await RawConnection.open(sending.port);
    connection.write(`${head}\r\n\r\n${body.slice(0, -1)}`);
    await until(() => sending.api.networks.length === 1);
    meanwhile();
    now += ms;
    connection.write(body.slice(-1));
    const reply = await connection.until(/\r\n\r\n.*\}$/);
    vi.restoreAllMocks();
    await sending.close();
    return { status: reply.split(' ')[1], sent: sending.api.sent.length };
  }

  it('admits a caller once more whose body took long: the key may have been revoked', async () => {
    const sending = await new HttpWorld().open();
    const outcome = await sendSlowly(sending, ADMISSION_FRESH_MS, () => sending.api.revokeKey());
    expect(outcome).toEqual({ status: '401', sent: 0 });
  });

  it('counts a caller once who is admitted twice', async () => {
    const sending = await new HttpWorld({ limits: { requestsPerProjectMax: 1 } }).open();
    expect(await sendSlowly(sending, ADMISSION_FRESH_MS)).toEqual({ status: '200', sent: 1 });
    expect(sending.api.networks).toHaveLength(2);
  });

  it('admits a caller once whose body came soon', async () => {
    const sending = await new HttpWorld().open();
    expect(await sendSlowly(sending, ADMISSION_FRESH_MS - 1)).toEqual({ status: '200', sent: 1 });
    expect(sending.api.networks).toHaveLength(1);
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
