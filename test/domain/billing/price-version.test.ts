import { describe, expect, it } from 'vitest';
import {
  isWithdrawable,
  type PriceVersion,
  pricesInForce,
  priceVersionStatus,
  scheduleRejection,
} from '../../../src/domain/billing/price-version.ts';
import { NOW, somePrices } from '../../support/builders.ts';

const version: PriceVersion = {
  id: 'a',
  effectiveFrom: NOW,
  createdAt: NOW - 1,
  actor: 'operator',
  rowCount: 0,
  withdrawnAt: null,
};

describe('a version of the price list', () => {
  it('a version is scheduled until its instant, then in force until another one is', () => {
    expect(priceVersionStatus(version, null, NOW - 1)).toBe('scheduled');
    expect(priceVersionStatus(version, 'a', NOW)).toBe('in-force');
    expect(priceVersionStatus(version, 'b', NOW)).toBe('replaced');
    expect(priceVersionStatus({ ...version, withdrawnAt: NOW - 1 }, null, NOW)).toBe('withdrawn');
  });

  it('a version may be withdrawn until 10 seconds before its instant', () => {
    expect(isWithdrawable(version, NOW - 10_001)).toBe(true);
    expect(isWithdrawable(version, NOW - 10_000)).toBe(false);
  });

  it('an import takes effect at once, or in the future while there are fewer than 20 such versions', () => {
    expect(scheduleRejection(null, 20, NOW)).toBeNull();
    expect(scheduleRejection(NOW, 0, NOW)).toEqual({ kind: 'effective-from-past' });
    expect(scheduleRejection(NOW + 1, 19, NOW)).toBeNull();
    expect(scheduleRejection(NOW + 1, 20, NOW)).toEqual({ kind: 'too-many-scheduled-prices' });
  });

  it('the list in force is the last one whose instant has come', () => {
    const [one, other] = [somePrices(), somePrices()];
    const schedule = [
      { effectiveFrom: NOW, list: one },
      { effectiveFrom: NOW + 5, list: other },
    ];
    expect(pricesInForce(schedule, NOW - 1)).toBeNull();
    expect(pricesInForce(schedule, NOW + 4)).toBe(one);
    expect(pricesInForce(schedule, NOW + 5)).toBe(other);
    expect(pricesInForce([], NOW)).toBeNull();
  });
});
