import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { ok } from '../../../../src/adapters/http/replies/http-reply.ts';
import { anyone } from '../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';
import type { RouteFamily } from '../../../../src/adapters/http/routing/route-declaration.ts';
import { FairGate } from '../../../../src/application/concurrency/fair-gate.ts';
import { StorageLocked } from '../../../../src/application/errors/storage-locked.ts';
import { uncancelled } from '../../../support/uncancelled.ts';
import { until } from '../../../support/until.ts';
import { HttpWorld } from '../http-world.ts';

/** How often the request meets the lock, before it is free. */
const TRIES_LOCKED = 3;

const pauses: (() => void)[] = [];
let tries = 0;
const gate = new FairGate(
  { perKey: 1, all: 1 },
  { clock: { now: () => 0 }, lockRetryDelay: uncancelled((over) => pauses.push(over)) },
);

const lockedRoute = route({
  method: 'post',
  path: '/locked',
  operationId: 'locked',
  summary: 'Meet a lock',
  description: 'For a test',
  admission: anyone,
  throughWorkGate: (_caller, work) => gate.run('', work),
  body: z.object({ id: z.string() }),
  ok: { description: 'Done', schema: z.object({ id: z.string() }) },
  async handle({ body }) {
    tries += 1;
    if (tries <= TRIES_LOCKED) throw new StorageLocked(new Error('locked'));
    return ok(body);
  },
});

const openRoute = route({
  method: 'get',
  path: '/open',
  operationId: 'open',
  summary: 'Do nothing',
  description: 'For a test',
  admission: anyone,
  ok: { description: 'Done', schema: z.object({}) },
  handle: async () => ok({}),
});

const family: RouteFamily = {
  tag: { name: 'Test', description: 'For a test' },
  envelope: usualEnvelope,
  routes: [lockedRoute, openRoute],
};

let world: HttpWorld;
afterEach(() => world.close());

it('a request that meets a lock takes no place of those that are served while it pauses, and one place afterwards', async () => {
  world = await new HttpWorld({ families: [family], limits: { requestsMax: 1 } }).open();
  const open = async () => (await world.call('GET', '/open', { keyless: true })).status;
  const reply = world.post('/locked', { id: '7' });
  for (let locked = 1; locked <= TRIES_LOCKED; locked += 1) {
    await until(() => pauses.length === locked);
    expect([tries, await open()]).toEqual([locked, 200]);
    pauses[locked - 1]?.();
  }
  expect(await reply).toMatchObject({ status: 200, body: { id: '7' } });
  expect(await open()).toBe(200);
});
