import { millisecondsInDay, millisecondsInSecond } from 'date-fns/constants';
import type { PhoneNumber } from '../shared/phone-number.ts';
import type { WhatsappPhoneNumber } from '../whatsapp/whatsapp-resources.ts';

/** How long a conversation is open after the message that opened it, in milliseconds. So is the window after a customer wrote. */
export const CONVERSATION_MS = millisecondsInDay;

/** Specification 8: what a new portfolio may send, and one of a limit that this version does not know. */
export const DAILY_LIMIT_MIN = 250;

/** New conversations a day by the platform's names; null: without a limit. */
const DAILY_LIMITS: ReadonlyMap<string, number | null> = new Map([
  ['TIER_1K', 1_000],
  ['TIER_2K', 2_000],
  ['TIER_10K', 10_000],
  ['TIER_100K', 100_000],
  ['TIER_UNLIMITED', null],
]);

/** How long a message that does not fit waits at least, in milliseconds. */
const WAIT_MIN_MS = millisecondsInSecond;

/** The conversations of a portfolio that are open. */
export interface OpenConversations {
  readonly count: number;
  /** When the oldest ones were opened, the oldest first; as many as messages may have to wait for. */
  readonly oldest: readonly number[];
  /** Those of the given messages' numbers that have one, or whose customer wrote within a day. */
  readonly open: ReadonlySet<PhoneNumber>;
}

/** One message that may open a conversation. */
export interface Opener {
  readonly smsId: string;
  readonly phoneNumber: PhoneNumber;
}

/** Which conversations messages open, and which of them wait. */
export interface ConversationDecision {
  /** The numbers with whom a conversation is opened. */
  readonly opened: readonly PhoneNumber[];
  /** When to try the messages again that do not fit. */
  readonly retryAts: ReadonlyMap<string, number>;
}

/** How many conversations a day the portfolio of a number may open; null where nothing limits them. */
export function dailyLimitOf({ messagingLimit }: WhatsappPhoneNumber): number | null {
  const limit = DAILY_LIMITS.get(messagingLimit);
  return limit === undefined ? DAILY_LIMIT_MIN : limit;
}

/**
 * Which messages may start now. One to a number with an open conversation always may; another one opens a conversation, or waits
 * until one of the oldest ends when as many are open as the limit allows.
 */
export function decideConversations(
  limit: number,
  { count, oldest, open }: OpenConversations,
  messages: readonly Opener[],
  now: number,
): ConversationDecision {
  const opened = new Set<PhoneNumber>();
  const retryAts = new Map<string, number>();
  // A limit that was lowered frees nothing until the conversations beyond it have ended.
  const excess = Math.max(0, count - limit);
  for (const { smsId, phoneNumber } of messages) {
    if (open.has(phoneNumber) || opened.has(phoneNumber)) continue;
    if (count + opened.size < limit) {
      opened.add(phoneNumber);
      continue;
    }
    const openedAt = oldest[excess + retryAts.size] ?? oldest.at(-1) ?? now;
    retryAts.set(smsId, Math.max(openedAt + CONVERSATION_MS, now + WAIT_MIN_MS));
  }
  return { opened: [...opened], retryAts };
}
