import { describe, expect, it, test } from 'vitest';
import {
  add,
  iqd,
  isIqdAmount,
  larger,
  type Money,
  money,
  negate,
  subtract,
  times,
  toIqd,
  ZERO,
} from '../../../src/domain/shared/money.ts';

const MAX = Number.MAX_SAFE_INTEGER;

describe('iqd', () => {
  test.each([
    [0, 0],
    [1, 1_000],
    [15_000, 15_000_000],
    [0.001, 1],
    [1.005, 1_005],
    [80.125, 80_125],
    [4_503_599_627.123, 4_503_599_627_123],
    [-12.345, -12_345],
  ])('%d IQD is %d thousandths', (amount, thousandths) => {
    expect(iqd(amount)).toBe(thousandths);
  });

  test.each([0.0001, 0.0005, 0.0009, 1.2345, 1.000_000_1, 1e-7, -0.0004, Number.NaN])(
    'rejects %d: more than three decimals, or no number',
    (amount) => {
      expect(() => iqd(amount)).toThrow('at most three decimals');
    },
  );

  it('iqd throws on an amount whose thousandths are no safe integer', () => {
    expect(iqd(9_007_199_254_740)).toBe(9_007_199_254_740_000);
    expect(() => iqd(9_007_199_254_741)).toThrow('whole thousandths');
  });
});

describe('isIqdAmount', () => {
  test.each([0, 0.001, 1.005, 80.125, -12.345, 1_000_000_000.001])('isIqdAmount is true of %d', (amount) => {
    expect(isIqdAmount(amount)).toBe(true);
  });

  test.each([0.0001, 0.1230001, 1.2345, Number.NaN])('isIqdAmount is false of %d', (amount) => {
    expect(isIqdAmount(amount)).toBe(false);
  });
});

describe('money', () => {
  test.each([0, 1, -1, MAX, -MAX])('money accepts %d', (thousandths) => {
    expect(money(thousandths)).toBe(thousandths);
  });

  test.each([0.5, MAX + 1, -MAX - 1, Number.NaN, Number.POSITIVE_INFINITY])(
    'money throws on %d',
    (thousandths) => {
      expect(() => money(thousandths)).toThrow('whole thousandths');
    },
  );
});

describe('arithmetic', () => {
  it('sums, differences and products are exact', () => {
    expect(add(iqd(0.1), iqd(0.2))).toBe(300);
    expect(subtract(iqd(0.3), iqd(0.1))).toBe(200);
    expect(subtract(iqd(1), iqd(2))).toBe(-1_000);
    expect(times(iqd(80.5), 3)).toBe(241_500);
    expect(negate(iqd(5))).toBe(-5_000);
  });

  it('the negation of zero is zero', () => {
    expect(Object.is(negate(ZERO), 0)).toBe(true);
  });

  it('arithmetic throws instead of rounding', () => {
    const max = money(MAX);
    expect(add(money(MAX - 1), money(1))).toBe(MAX);
    expect(() => add(max, money(1))).toThrow('whole thousandths');
    expect(() => subtract(negate(max), money(1))).toThrow('whole thousandths');
    expect(() => times(max, 2)).toThrow('whole thousandths');
    expect(() => times(money(1), 0.5)).toThrow('whole thousandths');
  });

  test.each([
    [1, 2, 2],
    [2, 1, 2],
    [-1, 0, 0],
    [3, 3, 3],
  ])('the larger of %d and %d is %d', (a, b, expected) => {
    expect(larger(money(a), money(b))).toBe(expected);
  });
});

test.each<[Money, number]>([
  [iqd(80), 80],
  [iqd(0.001), 0.001],
  [iqd(14_960.25), 14_960.25],
  [ZERO, 0],
])('%d thousandths are shown as %d IQD', (amount, shown) => {
  expect(toIqd(amount)).toBe(shown);
});
