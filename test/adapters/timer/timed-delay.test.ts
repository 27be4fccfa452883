import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { timedDelay } from '../../../src/adapters/timer/timed-delay.ts';

const DELAY_MS = 20;
/** Timers count whole milliseconds, from the start of their turn of the event loop. */
const ROUNDING_MS = 2;

it('a timed delay calls back once, no sooner than its time', async () => {
  const startedAt = performance.now();
  let calls = 0;
  await new Promise<void>((resolve) => {
    timedDelay(DELAY_MS)(() => {
      calls += 1;
      resolve();
    });
  });
  expect(performance.now() - startedAt).toBeGreaterThan(DELAY_MS - ROUNDING_MS);
  expect(calls).toBe(1);
});
