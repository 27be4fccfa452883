import { creditOf } from '../billing/account.ts';
import { larger, type Money, subtract, times, ZERO } from '../shared/money.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import { decideSender } from './campaign-sender.ts';
import { CONVERSATION_MS, dailyLimitOf } from './daily-limit.ts';
import { messagesPerSecond, nextSlots } from './sending-rate.ts';
import {
  pricedBy,
  recipientPrice,
  type StartRejection,
  type StartState,
  startRejections,
} from './start-campaign.ts';

export interface PreflightState extends StartState {
  /** Until when the slots of the number are taken. */
  readonly freeAt: number;
  /** The numbers of recipients with whom a conversation is open, and how many the portfolio has open in all. */
  readonly conversations: { readonly open: ReadonlySet<PhoneNumber>; readonly count: number };
  /** Whether campaigns keep the sending rate and the daily limit. */
  readonly keepsPlatformLimits: boolean;
}

/** What a start would do now. */
export interface Preflight {
  /** Everything that keeps the campaign from starting, a recipient at a time; empty when it can start. */
  readonly rejections: readonly StartRejection[];
  readonly recipients: number;
  readonly cost: Money;
  readonly credit: Money;
  /** The credit after the start, not below zero. */
  readonly creditLeft: Money;
  /** Null where nothing limits the rate, and when the number is unknown. */
  readonly messagesPerSecond: number | null;
  /** How many conversations a day the portfolio may open; null likewise. */
  readonly dailyLimit: number | null;
  /** How long it takes from now until the last message may start, in milliseconds; whole days when the daily limit binds. */
  readonly durationMs: number;
}

/** Tells what the start of a campaign would do, with all that is wrong where a start names the first. Changes nothing. */
export function preflightCampaign(state: PreflightState, now: number): Preflight {
  const { account, campaign, recipients, prices, businesses } = state;
  const sender = decideSender(businesses, campaign);
  const cost = times(recipientPrice(prices, pricedBy(businesses, campaign)), recipients.length);
  const number = state.keepsPlatformLimits && sender.kind === 'sender' ? sender.phoneNumber : null;
  const perSecond = number === null ? null : messagesPerSecond(number);
  const dailyLimit = number === null ? null : dailyLimitOf(number);
  const { startsAt } = nextSlots(state.freeAt, perSecond, recipients.length, now);
  return {
    rejections: startRejections(state),
    recipients: recipients.length,
    cost,
    credit: creditOf(account),
    creditLeft: larger(ZERO, subtract(creditOf(account), cost)),
    messagesPerSecond: perSecond,
    dailyLimit,
    durationMs: Math.max((startsAt.at(-1) ?? now) - now, waitForConversationsMs(state, dailyLimit)),
  };
}

/** Whole days: how soon a conversation ends depends on when it was opened. */
function waitForConversationsMs(
  { recipients, conversations: { open, count } }: PreflightState,
  dailyLimit: number | null,
): number {
  if (dailyLimit === null) return 0;
  const opening = recipients.filter(({ phoneNumber }) => !open.has(phoneNumber)).length;
  const waiting = Math.max(0, count + opening - dailyLimit);
  return Math.ceil(waiting / dailyLimit) * CONVERSATION_MS;
}
