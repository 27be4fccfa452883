import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Account, creditOf, hold, spendingOf } from '../../../src/domain/billing/account.ts';
import {
  type AccountDelta,
  deltasOf,
  depositEntry,
  differencesOf,
  holdEntry,
  type LedgerEntry,
  settlementEntry,
  thresholdResetEntry,
} from '../../../src/domain/billing/ledger.ts';
import { add, iqd, type Money, money, subtract, ZERO } from '../../../src/domain/shared/money.ts';
import { anAccount, anSmsId, NOW } from '../../support/builders.ts';

const RUNS = 400;

type Move =
  | { readonly kind: 'deposit'; readonly amount: Money }
  | { readonly kind: 'hold'; readonly amount: Money }
  /** Settles one of the open holds, taking so many hundredths of it. */
  | { readonly kind: 'settle'; readonly which: number; readonly percent: number }
  | { readonly kind: 'reset' };

const amounts = fc.integer({ min: 0, max: 300_000 }).map(money);
const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deposit' as const), amount: amounts }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('hold' as const), amount: amounts }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat({ max: 50 }),
      percent: fc.constantFrom(0, 33, 100),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
);
const accounts = fc
  .record({
    paymentType: fc.constantFrom('prepaid' as const, 'postpaid' as const),
    spendingThreshold: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 1_000_000 }).map(money)),
  })
  .map((given) => anAccount({ balance: ZERO, ...given }));

/** An account with its ledger entries and open holds, changed the way a unit of work changes them. */
class AccountWithLedger {
  account: Account;
  accepted = 0;
  rejected = 0;
  readonly entries: LedgerEntry[] = [];
  readonly #open: { readonly reference: string; readonly amount: Money }[] = [];
  #count = 0;

  constructor(account: Account) {
    this.account = account;
  }

  make(move: Move): void {
    this.#count += 1;
    const occurrence = { projectId: this.account.projectId, reference: anSmsId(this.#count), at: NOW };
    switch (move.kind) {
      case 'deposit':
        this.#post(depositEntry(occurrence, move.amount));
        return;
      case 'hold':
        this.#hold(occurrence, move.amount);
        return;
      case 'settle': {
        const [settled] = this.#open.splice(move.which % Math.max(1, this.#open.length), 1);
        if (settled === undefined) return;
        const captured = money(Math.floor((settled.amount * move.percent) / 100));
        this.#post(
          settlementEntry({ ...occurrence, reference: settled.reference }, settled.amount, captured),
        );
        return;
      }
      case 'reset':
        this.#post(thresholdResetEntry(occurrence, this.account.spent));
        return;
      default:
        move satisfies never;
    }
  }

  check(): void {
    const { account } = this;
    const [sums = { projectId: account.projectId, balance: ZERO, held: ZERO, spent: ZERO }] = deltasOf(
      this.entries,
    );
    expect(differencesOf(account, sums)).toEqual([]);
    expect(account.held).toBe(this.#open.reduce((sum, { amount }) => sum + amount, 0));
    expect(account.held).toBeGreaterThanOrEqual(0);
    expect(account.spent).toBeGreaterThanOrEqual(0);
    expect(creditOf(account)).toBeGreaterThanOrEqual(0);
    if (account.paymentType === 'prepaid') {
      expect(subtract(account.balance, account.held)).toBeGreaterThanOrEqual(0);
    }
  }

  #hold(occurrence: { projectId: string; reference: string; at: number }, amount: Money): void {
    const before = this.account;
    const decision = hold(before, amount);
    if (decision.kind !== 'held') {
      this.rejected += 1;
      return;
    }
    this.accepted += 1;
    if (before.spendingThreshold !== null) {
      expect(spendingOf(decision.account)).toBeLessThanOrEqual(before.spendingThreshold);
    }
    this.#open.push({ reference: occurrence.reference, amount });
    this.#post(holdEntry(occurrence, amount));
    expect(this.account, 'the decision and the ledger agree').toEqual(decision.account);
  }

  #post(entry: LedgerEntry): void {
    this.entries.push(entry);
    for (const delta of deltasOf([entry])) this.account = applyDelta(this.account, delta);
  }
}

it('an account is the sum of its entries and never spends more than it has', () => {
  let accepted = 0;
  let rejected = 0;
  fc.assert(
    fc.property(accounts, fc.array(moves, { maxLength: 40, size: 'max' }), (account, story) => {
      const ledger = new AccountWithLedger(account);
      for (const move of story) {
        ledger.make(move);
        ledger.check();
      }
      expect(new Set(ledger.entries.map(({ id }) => id)).size).toBe(ledger.entries.length);
      accepted += ledger.accepted;
      rejected += ledger.rejected;
    }),
    { numRuns: RUNS },
  );
  // Far below what chance gives, so that only stories that test nothing fail here.
  expect(accepted, 'holds were accepted').toBeGreaterThan(RUNS / 4);
  expect(rejected, 'holds were rejected').toBeGreaterThan(RUNS / 4);
});

it('holds are accepted as long as credit and threshold allow, and no longer', () => {
  const limits = fc.record({
    balance: fc.integer({ min: 0, max: 2_000 }),
    threshold: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 2_000 })),
    cost: fc.integer({ min: 1, max: 300 }),
  });
  fc.assert(
    fc.property(limits, ({ balance, threshold, cost }) => {
      let account = anAccount({
        balance: iqd(balance),
        spendingThreshold: threshold === null ? null : iqd(threshold),
      });
      const expected = Math.floor(Math.min(balance, threshold ?? balance) / cost);
      for (let count = 0; count < expected; count += 1) {
        const decision = hold(account, iqd(cost));
        if (decision.kind !== 'held')
          return expect.unreachable(`hold ${count + 1} of ${expected} was rejected`);
        account = decision.account;
      }
      expect(hold(account, iqd(cost)).kind).not.toBe('held');
    }),
  );
});

/** What booking does to the columns of an account, written once more. */
function applyDelta(account: Account, delta: AccountDelta): Account {
  return {
    ...account,
    balance: add(account.balance, delta.balance),
    held: add(account.held, delta.held),
    spent: add(account.spent, delta.spent),
  };
}
