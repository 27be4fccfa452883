import { millisecondsInSecond } from 'date-fns/constants';
import { isThrottled, type SubmitResult } from './submit-result.ts';

/** What is left of the rate that a provider reached when it says that it takes no more. */
export const KEPT_SHARE = 0.7;
/** How fast the rate grows, per second to the third power. */
const GROWTH = 0.4;
/**
 * A provider that took less lately is asked as if it had taken so many a second, of all projects that it throttles: it may take
 * more than came for it.
 */
const REACHED_MIN = 10;
/** With fewer rejections among all results they are about single messages. */
const REJECTED_SHARE = 0.5;

/** What became of the requests of one project to a provider within about a second. */
export interface Results {
  readonly taken: number;
  readonly rejected: number;
}

/**
 * How the result of a request counts that the provider responded to: `taken` also when something is wrong with the message. Null
 * when it says nothing of the rate: the provider takes nothing for another reason, or may not have taken it.
 */
export function countedAs(result: SubmitResult): keyof Results | null {
  if (isThrottled(result)) return 'rejected';
  const saysNothing = result.kind === 'unknown' || (result.kind === 'rejected' && result.cause === 'busy');
  return saysNothing ? null : 'taken';
}

/** Whether half or more are rejected: the project sends more than the provider takes. */
export function areMostlyRejected({ taken, rejected }: Results): boolean {
  return rejected >= REJECTED_SHARE * (taken + rejected);
}

/**
 * How many requests a second of a project a provider gets, so many milliseconds after it said that it takes no more, while it
 * throttles so many projects. `reached` is what it took of them in a second. The rate follows the curve of CUBIC, the congestion
 * control of TCP (RFC 9438): from 0.7 of `reached` it grows fast, stays near `reached` for a while, and then goes beyond it ever
 * faster.
 */
export function sendRateAfter(reached: number, ms: number, projects = 1): number {
  const from = Math.max(REACHED_MIN / projects, reached);
  const untilReached = Math.cbrt((from * (1 - KEPT_SHARE)) / GROWTH);
  return from + GROWTH * (ms / millisecondsInSecond - untilReached) ** 3;
}
