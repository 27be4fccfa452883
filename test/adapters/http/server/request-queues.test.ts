import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { RequestQueues } from '../../../../src/adapters/http/server/request-queues.ts';
import { WAITING_REQUESTS_MS_MAX } from '../../../../src/adapters/http/server-limits.ts';

const CALLER = { key: 'a', group: 'project' } as const;

it('a request that a gate has let through waits while rounds only accept connections', async () => {
  let ms = 0;
  const queues = new RequestQueues({ roundMs: () => ms });
  let isOver = false;
  void queues.waitForRound(CALLER)?.then(() => {
    isOver = true;
  });
  await setImmediate();
  await setImmediate();
  expect(isOver).toBe(false);
  ms = WAITING_REQUESTS_MS_MAX;
  await vi.waitUntil(() => isOver);
});

it('a request that a gate has let through waits for a later round when those before it took the time of this one', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const queues = new RequestQueues({ roundMs: (msMax) => msMax });
  expect(queues.waitForRound(CALLER)).toBeNull();
  now += WAITING_REQUESTS_MS_MAX;
  const round = queues.waitForRound(CALLER);
  vi.restoreAllMocks();
  expect(round).not.toBeNull();
  await round;
  expect(queues.waitForRound(CALLER)).toBeNull();
});
