import { expect, it } from 'vitest';
import {
  AdaptivePolling,
  POLLING_DELAY_MS,
  YIELDING_DELAY_MS_MAX,
} from '../../../src/adapters/timer/adaptive-polling.ts';

const REQUESTS = 500;
const NO_REQUESTS = 5;

function pollingAt(share: number) {
  let busy = share;
  const polling = new AdaptivePolling(() => busy);
  const nextDelay = (signals: number, hasMore = false, foundWork = true) =>
    polling.nextDelay({ foundWork, hasMore, signals });
  return { nextDelay, become: (next: number) => (busy = next) };
}

it('adaptive polling does not delay the next poll after one that found no work', () => {
  expect(pollingAt(0.2).nextDelay(NO_REQUESTS, false, false)).toBe(0);
});

it('adaptive polling delays the next poll after work, but not while more is due and the process has time', () => {
  const { nextDelay } = pollingAt(0.5);
  expect(nextDelay(REQUESTS)).toBe(POLLING_DELAY_MS);
  expect(nextDelay(REQUESTS, true)).toBe(0);
});

it('adaptive polling does not delay while the backlog alone keeps the process busy', () => {
  expect(pollingAt(1).nextDelay(NO_REQUESTS, true)).toBe(0);
});

it('adaptive polling doubles its delay up to a bound while requests leave no time, and resets it at once', () => {
  const { nextDelay, become } = pollingAt(0.95);
  expect([
    nextDelay(REQUESTS, true),
    nextDelay(REQUESTS, true),
    nextDelay(REQUESTS, true),
    nextDelay(REQUESTS, true),
  ]).toEqual([100, 200, 400, 400]);
  expect(YIELDING_DELAY_MS_MAX).toBe(400);
  become(0.6);
  expect(nextDelay(REQUESTS)).toBe(50);
});
