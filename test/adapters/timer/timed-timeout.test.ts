import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { timedTimeout } from '../../../src/adapters/timer/timed-timeout.ts';

const SHORT_MS = 5;
const LONG_MS = 20;
/** Timers count in whole milliseconds. */
const ROUNDING_MS = 2;

it('expires a timeout after its time, and one that was cancelled never', async () => {
  const expired: string[] = [];
  const cancel = timedTimeout(SHORT_MS)(() => expired.push('cancelled'));
  const started = performance.now();
  const longer = new Promise<void>((resolve) => {
    timedTimeout(LONG_MS)(() => {
      expired.push('longer');
      resolve();
    });
  });
  timedTimeout(SHORT_MS)(() => expired.push('shorter'));
  cancel();
  await longer;
  expect(performance.now() - started).toBeGreaterThanOrEqual(LONG_MS - ROUNDING_MS);
  expect(expired).toEqual(['shorter', 'longer']);
});
