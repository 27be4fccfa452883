import { describe, expect, it, test } from 'vitest';
import { creditOf, hold, spendingOf } from '../../../src/domain/billing/account.ts';
import { iqd, money, ZERO } from '../../../src/domain/shared/money.ts';
import { anAccount } from '../../support/builders.ts';

test.each([
  [100, 0, 100],
  [100, 40, 60],
  [100, 100, 0],
  [100, 101, 0],
  [-5, 0, 0],
])('a balance of %d with %d held is a credit of %d', (balance, held, credit) => {
  expect(creditOf(anAccount({ balance: iqd(balance), held: iqd(held) }))).toBe(iqd(credit));
});

it('open holds and captures count as spending', () => {
  expect(spendingOf(anAccount({ held: iqd(30), spent: iqd(12) }))).toBe(iqd(42));
});

describe('a hold on a prepaid account', () => {
  const account = anAccount({ balance: iqd(100), held: iqd(20), spent: iqd(7) });

  it('a hold of exactly the credit is accepted', () => {
    expect(hold(account, iqd(80))).toEqual({ kind: 'held', account: { ...account, held: iqd(100) } });
  });

  it('a hold of a thousandth more than the credit is rejected', () => {
    expect(hold(account, money(80_001))).toEqual({
      kind: 'insufficient-credit',
      yourCredit: iqd(80),
      requiredCredit: money(80_001),
    });
  });

  it('a rejected hold never shows a credit below zero', () => {
    expect(hold(anAccount({ balance: iqd(-5) }), iqd(1))).toEqual({
      kind: 'insufficient-credit',
      yourCredit: ZERO,
      requiredCredit: iqd(1),
    });
  });
});

describe('a hold on a postpaid account', () => {
  const account = anAccount({ paymentType: 'postpaid', balance: ZERO, held: iqd(20) });

  it('a hold on a postpaid account needs no credit', () => {
    expect(hold(account, iqd(80))).toEqual({ kind: 'held', account: { ...account, held: iqd(100) } });
  });

  it('a postpaid account may owe a trillion IQD, its holds included, and not a thousandth more', () => {
    expect(hold(account, iqd(999_999_999_980))).toMatchObject({ kind: 'held' });
    expect(hold(account, money(999_999_999_980_001))).toEqual({
      kind: 'insufficient-credit',
      yourCredit: ZERO,
      requiredCredit: money(999_999_999_980_001),
    });
    const credited = anAccount({ paymentType: 'postpaid', balance: iqd(20), held: iqd(20) });
    expect(hold(credited, iqd(1_000_000_000_000))).toMatchObject({ kind: 'held' });
    expect(hold(credited, money(1_000_000_000_000_001))).toMatchObject({ kind: 'insufficient-credit' });
  });

  it('a hold on a postpaid account is bound by the threshold', () => {
    expect(hold({ ...account, spendingThreshold: iqd(99) }, iqd(80))).toMatchObject({
      kind: 'spending-threshold',
    });
  });
});

describe('the spending threshold', () => {
  const account = anAccount({ held: iqd(20), spent: iqd(30), spendingThreshold: iqd(130) });

  it('a hold may reach the spending threshold exactly', () => {
    expect(hold(account, iqd(80))).toMatchObject({ kind: 'held' });
  });

  it('a hold that passes the spending threshold by a thousandth is rejected', () => {
    expect(hold(account, money(80_001))).toEqual({
      kind: 'spending-threshold',
      currentSpending: iqd(50),
      spendingThreshold: iqd(130),
      cost: money(80_001),
    });
  });

  it('without a spending threshold open holds and captures may reach eight trillion IQD, and not a thousandth more', () => {
    const rich = anAccount({ balance: iqd(1_000_000_000_000), spent: iqd(7_999_999_999_900) });
    expect(hold(rich, iqd(100))).toMatchObject({ kind: 'held' });
    expect(hold(rich, money(100_001))).toEqual({
      kind: 'spending-threshold',
      currentSpending: iqd(7_999_999_999_900),
      spendingThreshold: iqd(8_000_000_000_000),
      cost: money(100_001),
    });
  });

  it('a spending threshold of zero rejects every hold above zero', () => {
    expect(hold(anAccount({ spendingThreshold: ZERO }), money(1))).toMatchObject({
      kind: 'spending-threshold',
    });
    expect(hold(anAccount({ spendingThreshold: ZERO }), ZERO)).toMatchObject({ kind: 'held' });
  });

  it('a free message is sent when more is spent than the threshold allows by now', () => {
    expect(hold({ ...account, spendingThreshold: iqd(10) }, ZERO)).toMatchObject({ kind: 'held' });
    expect(hold({ ...account, spendingThreshold: iqd(10) }, money(1))).toMatchObject({
      kind: 'spending-threshold',
    });
  });

  it('the spending threshold is checked before the credit', () => {
    const poor = anAccount({ balance: ZERO, spendingThreshold: ZERO });
    expect(hold(poor, iqd(1))).toMatchObject({ kind: 'spending-threshold' });
  });
});
