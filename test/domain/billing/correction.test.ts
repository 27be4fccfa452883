import { expect, test } from 'vitest';
import { BALANCE_IQD_MAX, correctionRejection, topUpRejection } from '../../../src/domain/billing/account.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anAccount } from '../../support/builders.ts';

const prepaid = anAccount({ paymentType: 'prepaid', balance: iqd(100), held: iqd(40) });
const below = anAccount({ paymentType: 'prepaid', balance: iqd(10), held: iqd(40) });

test.each([
  ['leaves exactly what is held', prepaid, -60, false],
  ['leaves less than what is held', prepaid, -61, true],
  ['adds to a balance that is below what is held', below, 1, false],
  ['changes nothing at a balance below what is held', below, 0, false],
  ['takes from a balance that is below what is held', below, -1, true],
  [
    'takes more from a postpaid account than it has',
    { ...prepaid, paymentType: 'postpaid' as const },
    -500,
    false,
  ],
])('a correction that %s is rejected: %#', (_, account, amount, isRejected) => {
  expect(correctionRejection(account, iqd(amount))).toEqual(
    isRejected ? { kind: 'balance-below-holds', balance: account.balance, held: account.held } : null,
  );
});

const rich = anAccount({ paymentType: 'postpaid', balance: iqd(999_999_999_999) });
const indebted = { ...rich, balance: iqd(-999_999_999_999) };

test('a balance goes up to a trillion IQD above and below zero', () => {
  expect(BALANCE_IQD_MAX).toBe(1_000_000_000_000);
  const tooLarge = { kind: 'balance-too-large' };
  expect([topUpRejection(rich, iqd(1)), topUpRejection(rich, iqd(1.001))]).toEqual([null, tooLarge]);
  expect([correctionRejection(rich, iqd(1)), correctionRejection(rich, iqd(1.001))]).toEqual([
    null,
    tooLarge,
  ]);
  expect([correctionRejection(indebted, iqd(-1)), correctionRejection(indebted, iqd(-1.001))]).toEqual([
    null,
    tooLarge,
  ]);
  // What is further from zero already may come nearer.
  const further = { ...rich, balance: iqd(-1_000_000_000_100) };
  expect([topUpRejection(further, iqd(1)), correctionRejection(further, iqd(-1))]).toEqual([null, tooLarge]);
});
