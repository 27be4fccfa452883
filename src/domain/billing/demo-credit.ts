import { iqd, type Money, subtract } from '../shared/money.ts';
import { type Account, creditOf } from './account.ts';

/** A demo project with less credit than this, in IQD, is filled up. */
const DEMO_CREDIT_MIN_IQD = 1_000;

/** The credit of a demo project that was filled up, in IQD. */
export const DEMO_CREDIT_IQD = 15_000;

/** What to add to the account of a demo project, so that it never runs dry; null when it has enough. */
export function demoRefill(account: Account): Money | null {
  const credit = creditOf(account);
  return credit < iqd(DEMO_CREDIT_MIN_IQD) ? subtract(iqd(DEMO_CREDIT_IQD), credit) : null;
}
