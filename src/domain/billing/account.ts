import { add, iqd, larger, type Money, negate, subtract, ZERO } from '../shared/money.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';

export const PAYMENT_TYPES = ['prepaid', 'postpaid'] as const;
export type PaymentType = (typeof PAYMENT_TYPES)[number];

/**
 * A project's money. Each amount is the sum of its column over the ledger entries. `balance`: deposits less captures.
 * `held`: open holds. `spent`: captures since the last threshold reset.
 */
export interface Account {
  readonly projectId: string;
  readonly paymentType: PaymentType;
  readonly balance: Money;
  readonly held: Money;
  readonly spent: Money;
  /** The most that `held` and `spent` may be together; null when only `SPENDING_IQD_MAX` binds the project. */
  readonly spendingThreshold: Money | null;
  /** Set while the account is in trial mode: the only number it may send to. */
  readonly trialPhoneNumber: PhoneNumber | null;
  /** When the project was told of low credit, in milliseconds since 1970; null while the notice is armed. */
  readonly lowCreditNoticedAt: number | null;
}

export interface InsufficientCredit {
  readonly kind: 'insufficient-credit';
  readonly yourCredit: Money;
  readonly requiredCredit: Money;
}

export interface SpendingThresholdExceeded {
  readonly kind: 'spending-threshold';
  readonly currentSpending: Money;
  readonly spendingThreshold: Money;
  readonly cost: Money;
}

export interface Held {
  readonly kind: 'held';
  readonly account: Account;
}

export interface BalanceBelowHolds {
  readonly kind: 'balance-below-holds';
  readonly balance: Money;
  readonly held: Money;
}

/** The most that the balance of a project may be above zero, and a postpaid project may owe, its holds included, in IQD. */
export const BALANCE_IQD_MAX = 1_000_000_000_000;

/** The most that `held` and `spent` may be together without a threshold, in IQD: numbers keep such a sum exactly. */
const SPENDING_IQD_MAX = 8_000_000_000_000;

const BALANCE_MAX = iqd(BALANCE_IQD_MAX);
const SPENDING_MAX = iqd(SPENDING_IQD_MAX);

/** The balance would be further from zero than `BALANCE_IQD_MAX`. */
export interface BalanceTooLarge {
  readonly kind: 'balance-too-large';
}

/** What keeps an operator from adding `amount` to the balance; null when nothing does. */
export function topUpRejection({ balance }: Account, amount: Money): BalanceTooLarge | null {
  const most = larger(BALANCE_MAX, size(balance));
  return size(add(balance, amount)) > most ? { kind: 'balance-too-large' } : null;
}

/**
 * What keeps an operator from changing the balance by `amount`; null when nothing does. What a prepaid account has promised
 * stays covered; the balance of a postpaid one may be below zero anyway.
 */
export function correctionRejection(
  account: Account,
  amount: Money,
): BalanceBelowHolds | BalanceTooLarge | null {
  const tooLarge = topUpRejection(account, amount);
  if (tooLarge !== null) return tooLarge;
  const { balance, held, paymentType } = account;
  if (amount >= ZERO || paymentType === 'postpaid' || add(balance, amount) >= held) return null;
  return { kind: 'balance-below-holds', balance, held };
}

/** How far an amount is from zero. */
function size(amount: Money): Money {
  return larger(amount, negate(amount));
}

/** The credit of the project: balance less open holds, never below zero (specification 2.8). */
export function creditOf(account: Account): Money {
  return larger(ZERO, subtract(account.balance, account.held));
}

/** What counts against the spending threshold: open holds and captures. */
export function spendingOf(account: Account): Money {
  return add(account.held, account.spent);
}

/**
 * Holds `amount`. The threshold binds every account. A prepaid one needs credit for the amount, and a postpaid one may owe up to
 * `BALANCE_IQD_MAX`. An exact match passes.
 */
export function hold(account: Account, amount: Money): Held | SpendingThresholdExceeded | InsufficientCredit {
  const [rejection] = holdRejections(account, amount);
  return rejection ?? { kind: 'held', account: { ...account, held: add(account.held, amount) } };
}

/** Everything that keeps the account from holding `amount`; the first is what a hold is rejected with. Nothing does so for 0. */
export function holdRejections(
  account: Account,
  amount: Money,
): readonly (SpendingThresholdExceeded | InsufficientCredit)[] {
  if (amount === ZERO) return [];
  const rejections: (SpendingThresholdExceeded | InsufficientCredit)[] = [];
  const spendingThreshold = account.spendingThreshold ?? SPENDING_MAX;
  if (amount > subtract(spendingThreshold, spendingOf(account))) {
    rejections.push({
      kind: 'spending-threshold',
      currentSpending: spendingOf(account),
      spendingThreshold,
      cost: amount,
    });
  }
  const mayOwe = account.paymentType === 'prepaid' ? ZERO : BALANCE_MAX;
  if (amount > subtract(add(account.balance, mayOwe), account.held)) {
    rejections.push({ kind: 'insufficient-credit', yourCredit: creditOf(account), requiredCredit: amount });
  }
  return rejections;
}
