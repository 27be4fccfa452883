import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { DEMO_API_KEY } from '../../../../src/bootstrap/config/demo-seed.ts';
import { HttpWorld } from '../http-world.ts';

const KEYED: readonly [method: string, path: string][] = [
  ['POST', '/sms'],
  ['GET', '/sms/track/sms-000000000000000000000001'],
  ['GET', '/info'],
  ['GET', '/sender-ids'],
  ['GET', '/international-sms-pricing'],
  ['GET', '/whatsapp/resources'],
];
const UNAUTHORIZED = { message: 'Unauthorized, please use your project api key' };

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

describe('the key', () => {
  test.each(KEYED)('%s %s without a key gets 401', async (method, path) => {
    for (const prefix of ['', '/api']) {
      const reply = await world.call(method, `${prefix}${path}`, { keyless: true });
      expect(reply.status).toBe(401);
      expect(reply.body).toEqual(UNAUTHORIZED);
      expect(reply.headers['x-error-code']).toBe('unauthorized');
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
  });

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer sk_dev_unknown',
    `Bearer sk_live_${'0'.repeat(40)}`,
    `Basic ${'0'.repeat(40)}`,
    DEMO_API_KEY,
  ])('the header Authorization: %j gets 401', async (authorization) => {
    const reply = await world.call('GET', '/info', { keyless: true, headers: { authorization } });
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual(UNAUTHORIZED);
  });
});

describe('paths and methods', () => {
  test.each([
    '/',
    '/api',
    '/nothing',
    '/sms/track',
    '/sms/track/',
    '/sms/track/a/b',
    '/api/api/info',
    '/%',
    '/sms%ff',
    '/%ff?%ff',
    '//',
    '/.env',
  ])('the path %s gets 404 with every method', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const reply = await world.call(method, path);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual({ message: 'Not found' });
      expect(reply.headers['x-error-code']).toBe('not-found');
    }
  });

  test.each([
    ['GET', '/sms', 'POST, OPTIONS'],
    ['HEAD', '/sms', 'POST, OPTIONS'],
    ['DELETE', '/api/sms', 'POST, OPTIONS'],
    ['POST', '/info', 'GET, HEAD, OPTIONS'],
    ['PUT', '/sms/track/sms-000000000000000000000001', 'GET, HEAD, OPTIONS'],
    ['TRACE', '/healthz', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/whatsapp/resources', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/info', 'GET, HEAD, OPTIONS'],
  ])('%s %s gets 405 with the methods of the path', async (method, path, allow) => {
    const reply = await world.call(method, path);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe(allow);
    expect(reply.headers['x-error-code']).toBe('method-not-allowed');
    expect(reply.body).toEqual(method === 'HEAD' ? null : { message: 'Method not allowed' });
  });

  test.each(['/info', '/api/info', '/info/', '/INFO', '/info?a=%00', 'http://127.0.0.1/info'])(
    'a path without parameters gets the same reply when it is written as %s',
    async (path) => {
      const { status, body } = await world.call('GET', '/info');
      expect(status).toBe(200);
      const reply = await world.call('GET', path);
      expect(reply).toMatchObject({ status, body });
      expect(world.seen.map(({ route }) => route)).toEqual(['/info', '/info']);
    },
  );

  it('OPTIONS names the methods of a path', async () => {
    const reply = await world.call('OPTIONS', '/info', { keyless: true });
    expect(reply.status).toBe(200);
    expect(reply.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect(reply.body).toEqual({ methods: ['GET', 'HEAD', 'OPTIONS'] });
  });

  it('HEAD gets the headers of GET without the body', async () => {
    const get = await world.call('GET', '/info');
    const head = await world.call('HEAD', '/info');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await world.call('HEAD', '/info', { keyless: true })).status).toBe(401);
  });
});

describe('headers', () => {
  it('every reply has the same few headers', async () => {
    for (const [method, path] of [
      ...KEYED,
      ['GET', '/nothing'],
      ['DELETE', '/sms'],
      ['GET', '/healthz'],
    ] as const) {
      const { headers } = await world.call(method, path);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-request-id']).toMatch(/^request-[0-9]+$/);
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('etag');
    }
  });

  test.each([
    ['a', 'a'],
    ['0b5e:7c.f-1_Z', '0b5e:7c.f-1_Z'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), 'request-1'],
    ['two words', 'request-1'],
    ['<script>', 'request-1'],
    ['', 'request-1'],
  ])('a reply repeats the request id %j as %j', async (given, expected) => {
    const reply = await world.call('GET', '/healthz', { headers: { 'x-request-id': given } });
    expect(reply.headers['x-request-id']).toBe(expected);
  });
});

describe('logging', () => {
  it('logs nothing about ordinary requests', async () => {
    await world.call('GET', '/info');
    await world.call('GET', '/nothing');
    expect(world.logger.entriesBesideRequests).toEqual([]);
  });

  it('logs a fault with the declared path only', async () => {
    world.api.fault = new Error('planted');
    await world.call('GET', '/api/sms/track/sms-000000000000000000000009?secret=1');
    world.api.fault = null;
    expect(world.logger.entries.splice(0)).toEqual([
      {
        level: 'error',
        event: 'request_failed',
        fields: {
          method: 'GET',
          route: '/sms/track/:smsId',
          status: 500,
          requestId: expect.any(String),
          durationMs: expect.any(Number),
        },
      },
    ]);
  });
});
