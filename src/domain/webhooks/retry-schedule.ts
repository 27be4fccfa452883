import { millisecondsInDay, millisecondsInHour, millisecondsInSecond } from 'date-fns/constants';

/** When to try again, in milliseconds since 1970, or that no further attempt will be made. */
export type NextAttempt = { readonly kind: 'retry'; readonly at: number } | { readonly kind: 'give-up' };

/** Specification 6.1: up to ten retries after the first attempt. */
export const DELIVERY_RETRIES_MAX = 10;
/** The specification names no backoff: a customer who waits for a code needs short delays at first. */
const DELIVERY_FIRST_DELAY_MS = 5 * millisecondsInSecond;
const DELIVERY_DELAY_FACTOR = 3;
const DELIVERY_DELAY_MS_MAX = 6 * millisecondsInHour;
/** Spreads the retries of events that failed together. */
const DELIVERY_JITTER_SHARE = 0.2;
/** How many times the delay of the schedule a receiver may ask for: with more the schedule would lose its meaning. */
const RETRY_AFTER_FACTOR_MAX = 2;

/** Specification 6.2: the second attempt 10 seconds after the first, the third 15 seconds after the second. */
export const INBOUND_QUICK_DELAYS_MS: readonly number[] = [
  10 * millisecondsInSecond,
  15 * millisecondsInSecond,
];
export const INBOUND_QUICK_ATTEMPTS = INBOUND_QUICK_DELAYS_MS.length + 1;
const INBOUND_QUEUED_DELAY_MS = millisecondsInHour;
/** Counted from the first attempt; an attempt on the last instant is still made. */
export const INBOUND_LIFETIME_MS = 48 * millisecondsInHour;
/** Events of every kind are kept for this long; the specification says so of the inbound ones. */
export const WEBHOOK_LOG_LIFETIME_MS = 15 * millisecondsInDay;

export interface FailedDelivery {
  /** Attempts made so far, this one included: at least 1. */
  readonly attempts: number;
  readonly failedAt: number;
  /** A fresh random number, at least 0 and below 1. */
  readonly jitter: number;
  /** What the receiver asked for, in milliseconds; null when it asked for nothing. */
  readonly retryAfterMs: number | null;
}

/** The next attempt of a delivery webhook after a failed one (specification 6.1). */
export function nextDeliveryAttempt(failed: FailedDelivery): NextAttempt {
  if (failed.attempts > DELIVERY_RETRIES_MAX) return { kind: 'give-up' };
  const planned = plannedDeliveryDelayMs(failed.attempts);
  const spread = 1 + DELIVERY_JITTER_SHARE * (2 * failed.jitter - 1);
  const delay = Math.round(planned * spread);
  const asked = Math.min(failed.retryAfterMs ?? 0, planned * RETRY_AFTER_FACTOR_MAX);
  return { kind: 'retry', at: failed.failedAt + Math.max(delay, asked) };
}

/** The delay before retry number `retry`, 1 to 10, without jitter, in milliseconds. */
export function plannedDeliveryDelayMs(retry: number): number {
  return Math.min(DELIVERY_FIRST_DELAY_MS * DELIVERY_DELAY_FACTOR ** (retry - 1), DELIVERY_DELAY_MS_MAX);
}

export interface FailedInbound {
  /** Attempts made so far, this one included: at least 1. */
  readonly attempts: number;
  readonly firstAttemptAt: number;
  /** When the failed attempt began: the distances of specification 6.2 are between attempts. */
  readonly attemptedAt: number;
}

/** The next attempt of an inbound event after a failed one: exact, without jitter (specification 6.2). */
export function nextInboundAttempt(failed: FailedInbound): NextAttempt {
  const delay = INBOUND_QUICK_DELAYS_MS[failed.attempts - 1] ?? INBOUND_QUEUED_DELAY_MS;
  const at = failed.attemptedAt + delay;
  return at > failed.firstAttemptAt + INBOUND_LIFETIME_MS ? { kind: 'give-up' } : { kind: 'retry', at };
}
