import { invariant } from './invariant.ts';

/** Whole thousandths of an IQD, everywhere but in the interface, which has IQD numbers. */
export type Money = number & { readonly unit: 'thousandths of an IQD' };

const THOUSANDTHS_PER_IQD = 1000;

export const ZERO = 0 as Money;

/** The most that one amount of an operator may be, in IQD. */
export const IQD_MAX = 1_000_000_000;

/** Thousandths as read from a ledger or a store. Throws on anything that is not a safe integer. */
export function money(thousandths: number): Money {
  // The text is made for a wrong amount only: an amount as text takes longer than the rest of a hold.
  if (!Number.isSafeInteger(thousandths)) {
    invariant(false, `money must be whole thousandths of an IQD, got ${thousandths}`);
  }
  return thousandths as Money;
}

/** Whether an amount written in IQD has at most three decimals; false for NaN. */
export function isIqdAmount(amount: number): boolean {
  return Math.round(amount * THOUSANDTHS_PER_IQD) / THOUSANDTHS_PER_IQD === amount;
}

/** An amount written in IQD, with at most three decimals. Throws on more. */
export function iqd(amount: number): Money {
  invariant(isIqdAmount(amount), `an IQD amount has at most three decimals, got ${amount}`);
  return money(Math.round(amount * THOUSANDTHS_PER_IQD));
}

/** The IQD number the interface prints: whole amounts come out as whole numbers. */
export function toIqd(amount: Money): number {
  return amount / THOUSANDTHS_PER_IQD;
}

/** The exact sum; like all arithmetic here, it throws when the result is no safe integer. */
export function add(a: Money, b: Money): Money {
  return money(a + b);
}

/** The exact difference, which may be below zero. */
export function subtract(a: Money, b: Money): Money {
  return money(a - b);
}

/** The amount times `factor`; throws when the product is no whole number of thousandths. */
export function times(amount: Money, factor: number): Money {
  return money(amount * factor);
}

/** The amount with the other sign. Zero stays zero: a negative zero would not equal it in every comparison. */
export function negate(amount: Money): Money {
  return money(amount === 0 ? 0 : -amount);
}

/** The larger of two amounts. */
export function larger(a: Money, b: Money): Money {
  return a >= b ? a : b;
}
