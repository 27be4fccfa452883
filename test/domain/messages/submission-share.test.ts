import { expect, it } from 'vitest';
import {
  handedOverLately,
  mayHaveMore,
  NONE_HANDED_OVER,
  waitingMax,
  withOneHandedOver,
} from '../../../src/domain/messages/submission-share.ts';

const T = 1_700_000_000_000;

/** After submissions that were taken at these instants, in milliseconds after `T`. */
const takenAt = (...instants: readonly number[]) =>
  instants.reduce((taken, at) => withOneHandedOver(taken, T + at), NONE_HANDED_OVER);

it('of a backlog four may wait at a provider, or a quarter of what it took, rounded up', () => {
  expect([0, 1, 16, 17, 100].map(waitingMax)).toEqual([4, 4, 4, 5, 25]);
});

it('what was taken counts by whole seconds, the last one or the current one when that has more', () => {
  expect(handedOverLately(NONE_HANDED_OVER, T)).toBe(0);
  expect(handedOverLately(takenAt(0, 1, 999), T + 999)).toBe(3);
  expect(handedOverLately(takenAt(0, 1, 1_000), T + 1_500)).toBe(2);
  expect(handedOverLately(takenAt(0, 1_000, 1_001), T + 1_500)).toBe(2);
  expect(handedOverLately(takenAt(0, 1), T + 1_999)).toBe(2);
  expect(handedOverLately(takenAt(0, 1), T + 2_000)).toBe(0);
  expect(handedOverLately(takenAt(0, 1, 2_000), T + 2_000)).toBe(1);
});

it('what was taken does not count while the clock is behind it', () => {
  expect(handedOverLately(takenAt(5_000, 5_001), T)).toBe(0);
});

it('a project without slow submissions may have as many in flight as it leaves free', () => {
  expect(mayHaveMore({ inFlight: 4, slow: 0 }, { free: 5, places: 9 })).toBe(true);
  expect(mayHaveMore({ inFlight: 9, slow: 0 }, { free: 1, places: 10 })).toBe(false);
  expect(mayHaveMore({ inFlight: 8, slow: 0 }, { free: 2, places: 10 })).toBe(true);
  expect(mayHaveMore({ inFlight: 7, slow: 2 }, { free: 3, places: 10 })).toBe(false);
  expect(mayHaveMore({ inFlight: 7, slow: 1 }, { free: 3, places: 10 })).toBe(true);
});
