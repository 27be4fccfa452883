import { expect, it } from 'vitest';
import {
  AdaptivePolling,
  POLLING_DELAY_MS,
  YIELDING_DELAY_MS_MAX,
} from '../../../src/adapters/timer/adaptive-polling.ts';

const REQUESTS = 500;
const NO_REQUESTS = 5;

function paceAt(share: number) {
  let busy = share;
  const pace = new AdaptivePolling(() => busy);
  const pause = (signals: number, hasMore = false, foundWork = true) =>
    pace.nextDelay({ foundWork, hasMore, signals });
  return { pause, become: (next: number) => (busy = next) };
}

it('looks again at once when there was nothing to do', () => {
  expect(paceAt(0.2).pause(NO_REQUESTS, false, false)).toBe(0);
});

it('pauses a little after work, and not at all while more is due and there is time', () => {
  const { pause } = paceAt(0.5);
  expect(pause(REQUESTS)).toBe(POLLING_DELAY_MS);
  expect(pause(REQUESTS, true)).toBe(0);
});

it('works on without a pause when the process is busy with nothing but its backlog', () => {
  expect(paceAt(1).pause(NO_REQUESTS, true)).toBe(0);
});

it('gives way further and further while requests leave no time, up to a bound, and comes back at once', () => {
  const { pause, become } = paceAt(0.95);
  expect([
    pause(REQUESTS, true),
    pause(REQUESTS, true),
    pause(REQUESTS, true),
    pause(REQUESTS, true),
  ]).toEqual([100, 200, 400, 400]);
  expect(YIELDING_DELAY_MS_MAX).toBe(400);
  become(0.6);
  expect(pause(REQUESTS)).toBe(50);
});
