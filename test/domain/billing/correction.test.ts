import { expect, test } from 'vitest';
import { correctionRejection } from '../../../src/domain/billing/account.ts';
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
