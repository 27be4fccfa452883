import { millisecondsInDay, millisecondsInMinute } from 'date-fns/constants';
import type { WebhookKind } from './attempt-result.ts';

/** One slice of the recent past: `slice` counts slices of `SLICE_MS` since 1970. */
export interface Tally {
  readonly slice: number;
  readonly succeeded: number;
  readonly failed: number;
}

/**
 * A circuit breaker: what is known of one host and path, by the posts of one project. Plain data of at most ten
 * tallies, so that one JSON column holds it. Instants are milliseconds since 1970.
 */
export interface CircuitBreaker {
  readonly failuresInRow: number;
  readonly recent: readonly Tally[];
  /** Nothing is posted before this instant; null while the endpoint is in use. */
  readonly openUntil: number | null;
  /** Windows opened since the last success. */
  readonly consecutiveOpens: number;
  /** Whether the one probe after a window is on its way. */
  readonly isHalfOpen: boolean;
}

/** `probe`: post one event, after storing what `beginProbe` answers; every other event waits for its result. */
export type PostDecision =
  | { readonly kind: 'post' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: number };

/** The specification says "repeatedly failing" without a number: so many in a row are no coincidence. */
export const FAILURES_IN_ROW_MAX = 10;
/** The second rule catches an endpoint that answers now and then. */
export const FAILURE_PERCENT_MAX = 70;
export const FAILURE_PERCENT_POSTS_MIN = 10;
export const FAILURE_PERCENT_PERIOD_MS = 5 * millisecondsInMinute;
export const OPEN_WINDOWS_MS: readonly number[] = [1, 5, 15, 60].map(
  (minutes) => minutes * millisecondsInMinute,
);
/** An endpoint nobody posted to for so long may be forgotten: longer than any window it may rest in. */
export const HEALTH_KEPT_MS = millisecondsInDay;
/** A probe whose result never arrives holds the others for this long: the posting deadline and some room. */
export const PROBE_MS_MAX = 30_000;
/** The period of the second rule is counted in slices of this length, to keep the state small. */
const SLICE_MS = 30_000;
const SLICES_KEPT = FAILURE_PERCENT_PERIOD_MS / SLICE_MS;

export const HEALTHY: CircuitBreaker = {
  failuresInRow: 0,
  recent: [],
  openUntil: null,
  consecutiveOpens: 0,
  isHalfOpen: false,
};

/** The part of a parsed https url that health is kept for: host, port and path, without the query. */
export function endpointOf(parsedUrl: string): string {
  return parsedUrl.replace(/^https:\/\//, '').replace(/[?#].*$/s, '');
}

/** The host of an endpoint: what may be told of it, for a path may be known to its owner only. */
export function hostOf(endpoint: string): string {
  return endpoint.replace(/\/.*/s, '');
}

/** Whether an event may be posted now; an event that has to wait is kept, never dropped (specification 6.1). */
export function decidePost(health: CircuitBreaker, now: number): PostDecision {
  if (health.openUntil === null) return { kind: 'post' };
  return now < health.openUntil ? { kind: 'wait', until: health.openUntil } : { kind: 'probe' };
}

/** The window is over and one event is on its way: the others wait until its result is known. */
export function beginProbe(health: CircuitBreaker, now: number): CircuitBreaker {
  return { ...health, isHalfOpen: true, openUntil: now + PROBE_MS_MAX };
}

/**
 * Whether posts of this kind count for the health of their endpoint. An inbound event keeps to the schedule of specification 6.2,
 * and never makes an endpoint rest; at one that rests because of others it may be the probe.
 */
export function countsForHealth(health: CircuitBreaker, kind: WebhookKind): boolean {
  return kind === 'delivery' || health.openUntil !== null;
}

/**
 * The health after one post. A success closes the endpoint's window; a failure opens one when it is the tenth
 * in a row, when too many of the last five minutes failed, or when it was the probe. Late failures of posts
 * that began before the window opened do not lengthen it.
 */
export function recordPost(health: CircuitBreaker, succeeded: boolean, now: number): CircuitBreaker {
  const wasOpen = health.openUntil !== null;
  if (succeeded) {
    return { ...HEALTHY, recent: wasOpen ? [] : tallied(health.recent, true, now) };
  }
  const failed: CircuitBreaker = {
    ...health,
    failuresInRow: health.failuresInRow + 1,
    recent: tallied(health.recent, false, now),
  };
  const mustOpen = wasOpen ? health.isHalfOpen : hasTripped(failed);
  return mustOpen ? opened(failed, now) : failed;
}

/** Until when an endpoint rests that did not before the last post, or whose probe just failed; null for any other. */
export function beganToRest(before: CircuitBreaker, after: CircuitBreaker): number | null {
  return after.consecutiveOpens > before.consecutiveOpens ? after.openUntil : null;
}

function hasTripped(health: CircuitBreaker): boolean {
  if (health.failuresInRow >= FAILURES_IN_ROW_MAX) return true;
  const failed = health.recent.reduce((sum, tally) => sum + tally.failed, 0);
  const posts = health.recent.reduce((sum, tally) => sum + tally.failed + tally.succeeded, 0);
  return posts >= FAILURE_PERCENT_POSTS_MIN && failed * 100 >= posts * FAILURE_PERCENT_MAX;
}

function opened(health: CircuitBreaker, now: number): CircuitBreaker {
  const window = OPEN_WINDOWS_MS[health.consecutiveOpens] ?? (OPEN_WINDOWS_MS.at(-1) as number);
  const consecutiveOpens = health.consecutiveOpens + 1;
  return { ...health, recent: [], openUntil: now + window, consecutiveOpens, isHalfOpen: false };
}

function tallied(recent: readonly Tally[], succeeded: boolean, now: number): readonly Tally[] {
  const slice = Math.floor(now / SLICE_MS);
  const kept = recent.filter((tally) => tally.slice > slice - SLICES_KEPT && tally.slice !== slice);
  const current = recent.find((tally) => tally.slice === slice) ?? { slice, succeeded: 0, failed: 0 };
  return [
    ...kept,
    {
      slice,
      succeeded: current.succeeded + (succeeded ? 1 : 0),
      failed: current.failed + (succeeded ? 0 : 1),
    },
  ];
}
