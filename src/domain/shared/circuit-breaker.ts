import { millisecondsInMinute } from 'date-fns/constants';
import { CLOCKS_DIFFER_MS_MAX } from './instant.ts';

/** The attempts of one slice of time: `slice` counts slices of `SLICE_MS` since 1970. */
export interface Tally {
  readonly slice: number;
  readonly succeeded: number;
  readonly failed: number;
}

/**
 * The circuit breaker of one other side: a webhook destination (by the attempts of one project at one host and path), or a
 * channel provider. Plain data of at most ten tallies, so that one JSON column holds it. Instants are milliseconds since
 * 1970.
 */
export interface CircuitBreaker {
  readonly failuresInRow: number;
  readonly recent: readonly Tally[];
  /** Nothing is attempted before this instant; null while the circuit is closed. */
  readonly openUntil: number | null;
  /** How often the circuit opened since the last success. */
  readonly consecutiveOpens: number;
  /** Whether one attempt is in flight that decides whether the circuit closes. */
  readonly isHalfOpen: boolean;
  /** When it opened first since the last success; absent while it is closed. */
  readonly openSince?: number;
  /** Why the attempt failed that opened it last; absent where nobody asks. */
  readonly lastError?: string;
}

/**
 * What may be attempted: everything, nothing before `until`, or one attempt. The breaker is `halfOpened` before that one; every
 * other attempt waits for its result.
 */
export type Circuit =
  | { readonly state: 'closed' }
  | { readonly state: 'open'; readonly until: number }
  | { readonly state: 'half-open' };

/** The failures in a row that open a circuit. The specification says "repeatedly failing" without a number. */
export const FAILURES_IN_ROW_MAX = 10;
/** The second rule catches another side that succeeds now and then. */
const FAILURE_PERCENT_MAX = 70;
const FAILURE_PERCENT_ATTEMPTS_MIN = 10;
export const FAILURE_PERCENT_PERIOD_MS = 5 * millisecondsInMinute;
/** When the result of a half-open attempt never comes, the circuit stays open this long: its deadline and some more. */
const HALF_OPEN_MS_MAX = 30_000;
/** The period of the second rule is counted in slices of this length, to keep the state small. */
const SLICE_MS = 30_000;
const SLICES_KEPT = FAILURE_PERCENT_PERIOD_MS / SLICE_MS;

export const CLOSED_CIRCUIT: CircuitBreaker = {
  failuresInRow: 0,
  recent: [],
  openUntil: null,
  consecutiveOpens: 0,
  isHalfOpen: false,
};

/**
 * What may be attempted at `now`. A circuit that would stay open for longer than the longest of `openWindowsMs` was opened by a
 * clock that has been put back since.
 */
export function circuitAt(
  { openUntil }: Pick<CircuitBreaker, 'openUntil'>,
  now: number,
  openWindowsMs: readonly number[],
): Circuit {
  if (openUntil === null) return { state: 'closed' };
  const longestMs = Math.max(HALF_OPEN_MS_MAX, ...openWindowsMs) + CLOCKS_DIFFER_MS_MAX;
  const isOpen = now < openUntil && openUntil - now <= longestMs;
  return isOpen ? { state: 'open', until: openUntil } : { state: 'half-open' };
}

/** The breaker while the one attempt of a half-open circuit is in flight: there is no other. */
export function halfOpened(breaker: CircuitBreaker, now: number): CircuitBreaker {
  return { ...breaker, isHalfOpen: true, openUntil: now + HALF_OPEN_MS_MAX };
}

/**
 * The breaker after one attempt. A success closes the circuit. A failure opens it when it is the tenth in a row, when too
 * many of the last five minutes failed, or when it was the half-open attempt. A late failure, of an attempt that began
 * before the circuit opened, does not keep it open for longer. `openWindowsMs` is how long the circuit is open: the first time,
 * the second time, and so on; the last one counts for all further times.
 */
export function recordAttempt(
  breaker: CircuitBreaker,
  succeeded: boolean,
  now: number,
  openWindowsMs: readonly number[],
): CircuitBreaker {
  const wasOpen = breaker.openUntil !== null;
  if (succeeded) {
    return { ...CLOSED_CIRCUIT, recent: wasOpen ? [] : tallied(breaker.recent, true, now) };
  }
  const failed: CircuitBreaker = {
    ...breaker,
    failuresInRow: breaker.failuresInRow + 1,
    recent: tallied(breaker.recent, false, now),
  };
  const mustOpen = wasOpen ? breaker.isHalfOpen : failsTooOften(failed);
  return mustOpen ? opened(failed, now, openWindowsMs) : failed;
}

/** Until when the last attempt opened the circuit; null when it did not. */
export function openedUntil(before: CircuitBreaker, after: CircuitBreaker): number | null {
  return after.consecutiveOpens > before.consecutiveOpens ? after.openUntil : null;
}

/** Whether the last attempt of these was the first failure in five minutes. */
export function beginsToFail({ failuresInRow, recent }: CircuitBreaker): boolean {
  return failuresInRow === 1 && failedOf(recent) === 1;
}

function failedOf(recent: readonly Tally[]): number {
  return recent.reduce((sum, { failed }) => sum + failed, 0);
}

function failsTooOften({ failuresInRow, recent }: CircuitBreaker): boolean {
  if (failuresInRow >= FAILURES_IN_ROW_MAX) return true;
  const failed = failedOf(recent);
  const attempts = recent.reduce((sum, tally) => sum + tally.failed + tally.succeeded, 0);
  return attempts >= FAILURE_PERCENT_ATTEMPTS_MIN && failed * 100 >= attempts * FAILURE_PERCENT_MAX;
}

function opened(breaker: CircuitBreaker, now: number, windowsMs: readonly number[]): CircuitBreaker {
  const window = windowsMs[breaker.consecutiveOpens] ?? windowsMs.at(-1) ?? 0;
  const consecutiveOpens = breaker.consecutiveOpens + 1;
  const openSince = breaker.openSince ?? now;
  return { ...breaker, recent: [], openUntil: now + window, consecutiveOpens, isHalfOpen: false, openSince };
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
