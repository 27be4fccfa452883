import { millisecondsInDay, millisecondsInMinute } from 'date-fns/constants';
import type { ChannelAttempt, Message } from '../messages/message.ts';
import { isLast, triedSince } from './chain-outcome.ts';

/** A message of a campaign that a busy provider rejected is tried again after this time at the soonest, in milliseconds. */
export const BUSY_RETRY_MS = 30_000;

/** How long a message of a campaign is tried, from its first try on, in milliseconds. */
export const BUSY_RETRIES_END_MS = millisecondsInDay;

/** Bounds of the wait between two tries at a busy provider, in milliseconds. A single message has no time to lose. */
const SINGLE_WAIT_MS = { min: 500, max: 30_000 };
/** A single message is tried for the last time so long before its time is over, in milliseconds. */
const SINGLE_LAST_TRY_MS = 2_000;
const CAMPAIGN_WAIT_MS = { min: BUSY_RETRY_MS, max: 10 * millisecondsInMinute };

/** The longest wait takes this share of the time that a message is tried: of a code of 30 s it is 2.8 s. */
const LONGEST_WAIT_SHARE = 0.1;

/** Hex digits at the end of an id that are random. */
const RANDOM_DIGITS = 8;

/**
 * When a busy provider is tried again, in milliseconds since 1970, or null: a single message goes on with the next channel, and
 * on its last one is tried for as long as an attempt may take. It waits as long again as it has been tried, or half of that, up
 * to a tenth of its time: a long wait costs few tries, however many messages wait. Where between the two differs from message to
 * message: a burst that was tried at once would find the provider busy again at once, and idle between.
 */
export function busyRetryAt(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  now: number,
): number | null {
  const leftMs = leftToTry(message, attemptNumber, attempt, now);
  if (leftMs <= 0) return null;
  const { min, max } = message.campaignId === null ? SINGLE_WAIT_MS : CAMPAIGN_WAIT_MS;
  const longest = Math.min(now - triedSince(attempt), max, LONGEST_WAIT_SHARE * triedForMs(message), leftMs);
  const shortest = Math.max(min, Math.floor(longest / 2));
  return now + shortest + spread(message, Math.max(0, Math.floor(longest) - shortest), now);
}

/**
 * Whether all that a single message can do is wait for its provider: that was busy, no other channel is left, and there is time
 * for another try.
 */
export function mayOnlyWait(message: Message, attemptNumber: number, now: number): boolean {
  const attempt = message.attempts[attemptNumber];
  if (attempt?.state !== 'busy' || message.campaignId !== null) return false;
  return leftToTry(message, attemptNumber, attempt, now) > 0;
}

/** For how long the attempt is tried still, in milliseconds; 0 or less when it is not tried again. */
function leftToTry(message: Message, attemptNumber: number, attempt: ChannelAttempt, now: number): number {
  if (message.isFinal || !isLast(message, attemptNumber)) return 0;
  return triedForMs(message) - (now - triedSince(attempt));
}

function triedForMs({ campaignId, attemptTimeoutMs }: Message): number {
  return campaignId === null ? attemptTimeoutMs - SINGLE_LAST_TRY_MS : BUSY_RETRIES_END_MS;
}

/** A number of 0 to `max` that differs from message to message, and from try to try. */
function spread({ smsId }: Message, max: number, now: number): number {
  return (Number.parseInt(smsId.slice(-RANDOM_DIGITS), 16) + now) % (max + 1);
}
