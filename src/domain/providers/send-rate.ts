import { millisecondsInSecond } from 'date-fns/constants';

/** What is left of the rate that a provider reached when it says that it takes no more. */
export const KEPT_SHARE = 0.7;
/** How fast the rate grows, per second to the third power. */
const GROWTH = 0.4;
/** A provider that took less lately is asked as if it had taken so many a second: it may take more than came for it. */
const REACHED_MIN = 10;

/**
 * How many requests a second a provider gets, so many milliseconds after it said that it takes no more. `reached` is what it took
 * of them in a second. The rate follows the curve of CUBIC, the congestion control of TCP (RFC 9438): from 0.7 of
 * `reached` it grows fast, stays near `reached` for a while, and then goes beyond it ever faster.
 */
export function sendRateAfter(reached: number, ms: number): number {
  const from = Math.max(REACHED_MIN, reached);
  const untilReached = Math.cbrt((from * (1 - KEPT_SHARE)) / GROWTH);
  return from + GROWTH * (ms / millisecondsInSecond - untilReached) ** 3;
}
