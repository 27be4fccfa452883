import { creditOf, spendingOf } from '../billing/account.ts';
import { DEFAULT_RATE_LIMIT, decideRate } from '../rate-limiting/rate-limiter.ts';
import { type Money, ZERO } from '../shared/money.ts';
import type { RequestOutcome } from './magic-numbers.ts';
import type { SendRejection, SendState } from './send-policy.ts';
import type { SendRequest } from './send-request.ts';
import { rateLimitFor } from './test-numbers.ts';

/**
 * The rejection a dev project's test number asks for by name, or null; its amounts come from the real account.
 */
export function sandboxRejection(
  acceptance: RequestOutcome | undefined,
  { project, account, acceptedAt }: SendState,
  { request, cost }: { readonly request: SendRequest; readonly cost: Money },
  now: number,
): SendRejection | null {
  if (acceptance === undefined) return null;
  switch (acceptance.kind) {
    case 'insufficient-credit':
      return {
        kind: 'insufficient-credit',
        yourCredit: creditOf(account) < cost ? creditOf(account) : ZERO,
        requiredCredit: cost,
      };
    case 'spending-threshold': {
      const currentSpending = spendingOf(account);
      return { kind: 'spending-threshold', currentSpending, spendingThreshold: currentSpending, cost };
    }
    case 'sender-id-not-found':
    case 'sender-id-not-accepted':
    case 'trial-mode':
      return { kind: acceptance.kind };
    case 'rate-limited': {
      const limit = rateLimitFor(project, request.phoneNumber) ?? DEFAULT_RATE_LIMIT;
      const maxRequests = acceptance.fromRequest - 1;
      if (maxRequests === 0) return { kind: 'rate-limited', waitMinutes: limit.timeWindowMinutes, ...limit };
      const rate = decideRate({ ...limit, maxRequests }, acceptedAt, now);
      return rate.kind === 'allowed' ? null : rate;
    }
    case 'internal-error':
    case 'slow-reply':
    case 'cut-connection':
      return null;
    default:
      return acceptance satisfies never;
  }
}
