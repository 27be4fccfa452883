import { afterEach, beforeEach, expect, it } from 'vitest';
import { HttpWorld } from '../http-world.ts';

const DATABASE = { name: 'database', ok: true, critical: true, detail: 'sqlite' };
const QUEUE = { name: 'queue', ok: false, critical: false, detail: 'not reachable' };

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

it('GET /healthz needs no key and touches nothing', async () => {
  world.api.fault = new Error('down');
  const reply = await world.call('GET', '/healthz', { keyless: true });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ status: 'ok' });
});

it('GET /readyz lists each dependency', async () => {
  world.api.dependencies = [DATABASE, QUEUE];
  const reply = await world.call('GET', '/readyz', { keyless: true });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ status: 'ready', dependencies: [DATABASE, QUEUE] });
});

it('GET /readyz replies 503 while a critical one is down', async () => {
  world.api.dependencies = [{ ...DATABASE, ok: false, detail: 'locked' }, QUEUE];
  const reply = await world.call('GET', '/api/readyz', { keyless: true });
  expect(reply.status).toBe(503);
  expect(reply.headers['x-error-code']).toBe('not-ready');
  expect(reply.body).toEqual({
    status: 'not-ready',
    dependencies: [{ ...DATABASE, ok: false, detail: 'locked' }, QUEUE],
  });
});
