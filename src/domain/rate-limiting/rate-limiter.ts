import { millisecondsInMinute } from 'date-fns/constants';
import { CLOCKS_DIFFER_MS_MAX } from '../shared/instant.ts';

/** How many sends of a project one number may receive, or one address may make, in a sliding window; a project setting. */
export interface RateLimit {
  readonly maxRequests: number;
  readonly timeWindowMinutes: number;
}

/** The anti-fraud default: five codes in ten minutes to one number. */
export const DEFAULT_RATE_LIMIT: RateLimit = { maxRequests: 5, timeWindowMinutes: 10 };

export interface RateLimited {
  readonly kind: 'rate-limited';
  readonly waitMinutes: number;
  readonly maxRequests: number;
  readonly timeWindowMinutes: number;
}

export interface RateAllowed {
  readonly kind: 'allowed';
}

/** The length of the sliding window in milliseconds. */
export function windowMs(limit: RateLimit): number {
  return limit.timeWindowMinutes * millisecondsInMinute;
}

/**
 * The instants that count: after `since`, and not after `until`. What is later was noted by a clock that ran ahead; it would lock
 * a number for as long as the clock was ahead.
 */
export function rateWindow(
  limit: RateLimit,
  now: number,
): { readonly since: number; readonly until: number } {
  return { since: now - windowMs(limit), until: now + CLOCKS_DIFFER_MS_MAX };
}

/**
 * Whether one more send fits. `acceptedAt` has the instants of earlier accepted sends in any order; those outside the
 * window do not count. `waitMinutes` is at least one, and a caller who waits that long is allowed.
 */
export function decideRate(
  limit: RateLimit,
  acceptedAt: readonly number[],
  now: number,
): RateAllowed | RateLimited {
  const { since, until } = rateWindow(limit, now);
  const inWindow = acceptedAt.filter((at) => at > since && at <= until).sort((a, b) => a - b);
  if (inWindow.length < limit.maxRequests) return { kind: 'allowed' };
  const lastToLeave = inWindow[inWindow.length - limit.maxRequests] ?? now;
  const waitMs = lastToLeave + windowMs(limit) - now;
  return {
    kind: 'rate-limited',
    waitMinutes: Math.max(1, Math.ceil(waitMs / millisecondsInMinute)),
    maxRequests: limit.maxRequests,
    timeWindowMinutes: limit.timeWindowMinutes,
  };
}
