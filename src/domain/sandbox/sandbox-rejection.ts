import { creditOf, spendingOf } from '../billing/account.ts';
import type { SendRejection, SendState } from '../messages/send-policy.ts';
import { DEFAULT_RATE_LIMIT, decideRate } from '../rate-limiting/rate-limiter.ts';
import { type Money, ZERO } from '../shared/money.ts';
import type { RejectionOutcome } from './sandbox-outcomes.ts';

/**
 * The rejection a test number asks for; null when this request is not rejected yet. Its amounts come from the real
 * account, `cost` is the price of the chain.
 */
export function sandboxRejection(
  outcome: RejectionOutcome,
  { project, account, acceptedAt }: SendState,
  cost: Money,
  now: number,
): SendRejection | null {
  switch (outcome.kind) {
    case 'insufficient-credit':
      return {
        kind: outcome.kind,
        yourCredit: creditOf(account) < cost ? creditOf(account) : ZERO,
        requiredCredit: cost,
      };
    case 'spending-threshold': {
      const currentSpending = spendingOf(account);
      return { kind: outcome.kind, currentSpending, spendingThreshold: currentSpending, cost };
    }
    case 'sender-id-not-found':
    case 'sender-id-not-accepted':
    case 'trial-mode':
      return { kind: outcome.kind };
    case 'rate-limited': {
      const limit = project.settings.rateLimit ?? DEFAULT_RATE_LIMIT;
      const maxRequests = outcome.fromRequest - 1;
      if (maxRequests === 0) return { kind: outcome.kind, waitMinutes: limit.timeWindowMinutes, ...limit };
      const rate = decideRate({ ...limit, maxRequests }, acceptedAt, now);
      return rate.kind === 'allowed' ? null : rate;
    }
    default:
      return outcome satisfies never;
  }
}
