import { millisecondsInSecond } from 'date-fns/constants';
import { CLOCKS_DIFFER_MS_MAX } from '../shared/instant.ts';
import type { WhatsappPhoneNumber } from '../whatsapp/whatsapp-resources.ts';
import { dailyLimitOf } from './daily-limit.ts';

/** Specification 8: how many messages a second one whatsapp number may send. */
export const MESSAGES_PER_SECOND = 80;
/** Of a number with an unlimited daily limit and at least medium quality. */
export const FAST_MESSAGES_PER_SECOND = 1_000;

const GOOD_QUALITIES: ReadonlySet<string> = new Set(['GREEN', 'YELLOW']);

/** Messages start in groups, so that a worker starts several at a time. */
export const GROUP_MS = 100;
const GROUPS_PER_SECOND = millisecondsInSecond / GROUP_MS;

/** When each of `count` messages of a number may start, and from when on the number is free for others. */
export interface Slots {
  readonly startsAt: readonly number[];
  readonly freeAt: number;
}

/** Until when the slots of a number are taken, and when that was noted. */
export interface TakenSlots {
  readonly freeAt: number;
  readonly savedAt: number;
}

export const NO_SLOTS: TakenSlots = { freeAt: 0, savedAt: 0 };

/** Since when the number is free. What a clock has noted that ran ahead does not count: nobody may wait until its time. */
export function freeSince({ freeAt, savedAt }: TakenSlots, now: number): number {
  return savedAt > now + CLOCKS_DIFFER_MS_MAX ? 0 : freeAt;
}

/** How many messages a second the number may send. */
export function messagesPerSecond(phoneNumber: WhatsappPhoneNumber): number {
  return dailyLimitOf(phoneNumber) === null && GOOD_QUALITIES.has(phoneNumber.qualityRating)
    ? FAST_MESSAGES_PER_SECOND
    : MESSAGES_PER_SECOND;
}

/** The next slots of a number that is taken until `freeAt`; `perSecond` is null where nothing limits the rate. */
export function nextSlots(freeAt: number, perSecond: number | null, count: number, now: number): Slots {
  const from = Math.max(freeAt, now);
  if (perSecond === null) return { startsAt: Array.from({ length: count }, () => now), freeAt };
  const perGroup = perSecond / GROUPS_PER_SECOND;
  const startsAt = Array.from(
    { length: count },
    (_, index) => from + Math.floor(index / perGroup) * GROUP_MS,
  );
  return { startsAt, freeAt: from + Math.ceil(count / perGroup) * GROUP_MS };
}

/**
 * How much a number may send at once after a delay, in milliseconds of its rate: a few groups, which a busy worker starts late.
 */
const BURST_MS = 300;

/**
 * What one process has started of a number: at its rate that takes until `sentUntil`. Later slots are given until `givenUntil`.
 */
export interface RateState {
  readonly sentUntil: number;
  readonly givenUntil: number;
}

export const NOTHING_SENT: RateState = { sentUntil: 0, givenUntil: 0 };

/** How many messages start now, and when the others do. */
export interface RateDecision {
  readonly startsNow: number;
  readonly retryAts: readonly number[];
  readonly state: RateState;
}

/**
 * Keeps `count` messages whose slots have come to the rate. Those in time all start. When many are late, as after a downtime, the
 * others get new slots.
 */
export function keepRate(state: RateState, perSecond: number, count: number, now: number): RateDecision {
  const intervalMs = millisecondsInSecond / perSecond;
  // Nothing is started further ahead: the clock was put back.
  const before = state.sentUntil > now + BURST_MS ? NOTHING_SENT : state;
  const sentUntil = Math.max(before.sentUntil, now);
  const fitting = Math.floor((now + BURST_MS - sentUntil) / intervalMs);
  const startsNow = Math.min(count, Math.max(0, fitting));
  const after = sentUntil + startsNow * intervalMs;
  if (startsNow === count) return { startsNow, retryAts: [], state: { ...before, sentUntil: after } };
  const { startsAt, freeAt } = nextSlots(
    Math.max(before.givenUntil, Math.ceil(after)),
    perSecond,
    count - startsNow,
    now,
  );
  return { startsNow, retryAts: startsAt, state: { sentUntil: after, givenUntil: freeAt } };
}
