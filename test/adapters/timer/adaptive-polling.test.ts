import { expect, it } from 'vitest';
import {
  AdaptivePolling,
  POLLING_DELAY_MS,
  YIELDS_MAX,
} from '../../../src/adapters/timer/adaptive-polling.ts';

const REQUESTS = 41;
const NO_REQUESTS = 40;

function pollingAt(share: number) {
  let busy = share;
  const polling = new AdaptivePolling(() => busy);
  return { polling, become: (next: number) => (busy = next) };
}

it('adaptive polling does not delay the next poll after one that found no work', () => {
  const { polling } = pollingAt(0.2);
  expect(polling.nextDelay({ foundWork: false, hasMore: false })).toBe(0);
});

it('adaptive polling delays the next poll after work, but not while more is due', () => {
  const { polling } = pollingAt(0.5);
  expect(polling.nextDelay({ foundWork: true, hasMore: false })).toBe(POLLING_DELAY_MS);
  expect(polling.nextDelay({ foundWork: true, hasMore: true })).toBe(0);
});

it('adaptive polling does not yield while the process has time, or the backlog alone keeps it busy', () => {
  expect(pollingAt(0.9).polling.tryYield(REQUESTS)).toBe(false);
  expect(pollingAt(1).polling.tryYield(NO_REQUESTS)).toBe(false);
});

it('adaptive polling yields to requests that leave no time, four times in a row and then polls', () => {
  const { polling } = pollingAt(0.91);
  const yields = () => polling.tryYield(REQUESTS);
  const row = [true, true, true, true, false];
  expect(YIELDS_MAX).toBe(4);
  expect(Array.from({ length: 10 }, yields)).toEqual([...row, ...row]);
});

it('adaptive polling polls as soon as requests leave time, and may yield as often again', () => {
  const { polling, become } = pollingAt(1);
  expect(polling.tryYield(REQUESTS)).toBe(true);
  become(0.5);
  expect(polling.tryYield(REQUESTS)).toBe(false);
  become(1);
  expect(Array.from({ length: 5 }, () => polling.tryYield(REQUESTS))).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
});

it('adaptive polling delays the next poll after saturation also while more is due, until requests leave time', () => {
  const { polling, become } = pollingAt(1);
  const delay = () => polling.nextDelay({ foundWork: true, hasMore: true });
  polling.tryYield(REQUESTS);
  expect(delay()).toBe(POLLING_DELAY_MS);
  become(0.5);
  polling.tryYield(REQUESTS);
  expect(delay()).toBe(0);
  become(1);
  polling.tryYield(NO_REQUESTS);
  expect(delay()).toBe(0);
});
