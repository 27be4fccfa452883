import { type Account, creditOf } from '../../../../../domain/billing/account.ts';
import { toIqd } from '../../../../../domain/shared/money.ts';

export function presentMoney(account: Account) {
  return {
    credit: toIqd(creditOf(account)),
    balance: toIqd(account.balance),
    held: toIqd(account.held),
    spent: toIqd(account.spent),
    isTrial: account.trialPhoneNumber !== null,
  };
}
