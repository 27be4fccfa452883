import { expect, it } from 'vitest';
import { demoRefill } from '../../../src/domain/billing/demo-credit.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anAccount } from '../../support/builders.ts';

it.each([
  { balance: 15_000, held: 0, refill: null },
  { balance: 1_000, held: 0, refill: null },
  { balance: 999.999, held: 0, refill: 14_000.001 },
  { balance: 2_000, held: 1_500, refill: 14_500 },
  { balance: 0, held: 0, refill: 15_000 },
])(
  'a demo account with balance $balance and $held held is filled up by $refill',
  ({ balance, held, refill }) => {
    const account = anAccount({ balance: iqd(balance), held: iqd(held) });
    expect(demoRefill(account)).toBe(refill === null ? null : iqd(refill));
  },
);
