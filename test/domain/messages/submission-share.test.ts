import { expect, it } from 'vitest';
import {
  mayBegin,
  mayHaveMore,
  NONE_TAKEN,
  takenLately,
  UNLIMITED_CAPACITY,
  withOneTaken,
} from '../../../src/domain/messages/submission-share.ts';

const T = 1_700_000_000_000;

/** After submissions that were taken at these instants, in milliseconds after `T`. */
const takenAt = (...instants: readonly number[]) =>
  instants.reduce((taken, at) => withOneTaken(taken, T + at), NONE_TAKEN);

it.each([
  ['four when nothing goes out', { free: 0, waiting: 0 }, 0, 4],
  ['fewer by those that wait', { free: 0, waiting: 3 }, 0, 1],
  ['none while four wait', { free: 0, waiting: 4 }, 16, 0],
  ['none, and not fewer, while more wait', { free: 0, waiting: 9 }, 16, 0],
  ['a quarter of what was taken, rounded up', { free: 0, waiting: 0 }, 17, 5],
  ['those that go out at once besides', { free: 50, waiting: 1 }, 100, 74],
])('of a backlog begin %s', (_, capacity, taken, expected) => {
  expect(mayBegin(capacity, taken)).toBe(expected);
});

it('every attempt may begin where none ever waits', () => {
  expect(mayBegin(UNLIMITED_CAPACITY, 0)).toBe(Number.POSITIVE_INFINITY);
});

it('what was taken counts by whole seconds, the last one or the current one when that has more', () => {
  expect(takenLately(NONE_TAKEN, T)).toBe(0);
  expect(takenLately(takenAt(0, 1, 999), T + 999)).toBe(3);
  expect(takenLately(takenAt(0, 1, 1_000), T + 1_500)).toBe(2);
  expect(takenLately(takenAt(0, 1_000, 1_001), T + 1_500)).toBe(2);
  expect(takenLately(takenAt(0, 1), T + 1_999)).toBe(2);
  expect(takenLately(takenAt(0, 1), T + 2_000)).toBe(0);
  expect(takenLately(takenAt(0, 1, 2_000), T + 2_000)).toBe(1);
});

it('what was taken does not count while the clock is behind it', () => {
  expect(takenLately(takenAt(5_000, 5_001), T)).toBe(0);
});

it('a project without slow submissions may have as many in flight as it leaves free', () => {
  expect(mayHaveMore({ inFlight: 4, slow: 0 }, { free: 5, places: 9 })).toBe(true);
  expect(mayHaveMore({ inFlight: 9, slow: 0 }, { free: 1, places: 10 })).toBe(false);
  expect(mayHaveMore({ inFlight: 8, slow: 0 }, { free: 2, places: 10 })).toBe(true);
  expect(mayHaveMore({ inFlight: 7, slow: 2 }, { free: 3, places: 10 })).toBe(false);
  expect(mayHaveMore({ inFlight: 7, slow: 1 }, { free: 3, places: 10 })).toBe(true);
});
