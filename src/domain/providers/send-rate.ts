import { millisecondsInSecond } from 'date-fns/constants';

/** What is left of the rate that a provider reached when it says that it takes no more. */
export const KEPT_SHARE = 0.7;
/** How fast the rate grows, per second to the third power. */
const GROWTH = 0.4;
/** A provider that took less lately is asked as if it had taken so many a second: it may take more than came for it. */
const REACHED_MIN = 10;

/** With fewer rejections among all results they are about single messages. */
const REJECTED_SHARE = 0.1;
/** While so many of other projects should have been rejected too, and none was, the rejections are about one project. */
const EXPECTED_OF_OTHERS = 3;

/** What became of requests to a provider. */
export interface Results {
  readonly taken: number;
  readonly rejected: number;
}

/**
 * Whether a provider that rejects requests takes no more of anybody: its rejections are no matter of single messages, nor of the
 * one project whose results are `own`. Those are among `all`, and one of them at least was rejected.
 */
export function areRejectionsAboutAll(all: Results, own: Results): boolean {
  if (all.rejected < REJECTED_SHARE * (all.taken + all.rejected)) return false;
  // As many of the others would have been rejected, had they been as likely to be.
  const expected = ((all.taken - own.taken) * own.rejected) / (own.taken + own.rejected);
  return all.rejected > own.rejected || expected < EXPECTED_OF_OTHERS;
}

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
