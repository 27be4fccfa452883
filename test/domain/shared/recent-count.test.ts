import { expect, it } from 'vitest';
import { countLately, NONE_LATELY, periodAt, withOneMore } from '../../../src/domain/shared/recent-count.ts';

const P = 1_000;

/** After one in each of these periods, after `P`. */
const inPeriods = (...periods: readonly number[]) =>
  periods.reduce((count, period) => withOneMore(count, P + period), NONE_LATELY);

it('periods of a length are numbered without a gap', () => {
  expect([0, 1_999, 2_000, 4_001].map((now) => periodAt(now, 2_000))).toEqual([0, 0, 1, 2]);
});

it('what there was in the last whole period counts, or in the current one when that has more', () => {
  expect(countLately(NONE_LATELY, P)).toBe(0);
  expect(countLately(inPeriods(0, 0, 0), P)).toBe(3);
  expect(countLately(inPeriods(0, 0, 1), P + 1)).toBe(2);
  expect(countLately(inPeriods(0, 1, 1), P + 1)).toBe(2);
  expect(countLately(inPeriods(0, 0), P + 1)).toBe(2);
  expect(countLately(inPeriods(0, 0), P + 2)).toBe(0);
  expect(countLately(inPeriods(0, 0, 2), P + 2)).toBe(1);
});

it('nothing counts while the clock is behind it', () => {
  expect(countLately(inPeriods(5, 5), P)).toBe(0);
  expect(countLately(inPeriods(5, 5, 0), P)).toBe(1);
});
