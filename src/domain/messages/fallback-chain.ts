import { millisecondsInDay } from 'date-fns/constants';
import type { Channel } from '../shared/channel.ts';
import { providerText } from '../shared/provider-text.ts';
import type { ChainEffect, ChainEvent, ChainOutcome, DeliveryReceipt } from './chain-event.ts';
import type { AttemptState, ChannelAttempt, Message } from './message.ts';
import { raiseStatus } from './message-status.ts';
import { receiptTimeoutMs } from './receipt-timeout.ts';
import { canCarry, maskContent } from './send-request.ts';
import { isForLater, type SubmitResult } from './submit-result.ts';

const TIMED_OUT_REASON = 'No delivered receipt in time';
const CANNOT_CARRY_REASON = 'The channel cannot carry this message';

/** A deadline that came too early comes again after this time at the soonest, in milliseconds. */
const DEADLINE_DELAY_MIN_MS = 1_000;

/** A message of a campaign that a busy provider rejected is tried again after this time, in milliseconds. */
export const BUSY_RETRY_MS = 30_000;

/** From the first try on a message of a campaign is tried for so long, in milliseconds. */
export const BUSY_RETRIES_END_MS = millisecondsInDay;

/** A single message has no time to lose: a busy last channel is tried again after this time, in milliseconds. */
export const SINGLE_BUSY_RETRY_MS = 2_000;

const OPEN: ReadonlySet<AttemptState> = new Set<AttemptState>(['dispatching', 'accepted', 'unknown']);

/**
 * Tells the chain what happened, and returns what to do next. Late, repeated and reversed events are ordinary input: they
 * may change what the trace shows, and never reopen, lower or charge anything a second time.
 */
export function advance(message: Message, event: ChainEvent, now: number): ChainOutcome {
  switch (event.kind) {
    case 'start':
      return start(message, event.attemptNumber, now);
    case 'submitted':
      return submitted(message, event.attemptNumber, event.result, now);
    case 'receipt':
      return receiptArrived(message, event, now);
    case 'deadline':
      return deadline(message, event.attemptNumber, now);
    case 'withdraw':
      return withdraw(message, event, now);
    default:
      return event satisfies never;
  }
}

function start(message: Message, attemptNumber: number, now: number): ChainOutcome {
  const channel = message.channels[attemptNumber];
  const before = message.attempts.at(-1);
  if (before !== undefined && OPEN.has(before.state)) return withoutEffects(message);
  if (message.isFinal || channel === undefined || !isToStart(message, attemptNumber))
    return withoutEffects(message);
  const attempt: ChannelAttempt = {
    channel,
    state: 'dispatching',
    reason: null,
    providerMessageIds: [],
    deliveredIds: [],
    startedAt: now,
    ...(before?.state === 'busy' ? { triedSince: triedSince(before) } : {}),
    endedAt: null,
  };
  if (!canCarry(channel, message.content)) {
    const skipped = {
      ...attempt,
      state: 'skipped',
      reason: CANNOT_CARRY_REASON,
      endedAt: now,
    } as const;
    // A channel that was skipped does not tell why the message failed; the last one tried does.
    const tried = message.attempts.findLast(({ state }) => state !== 'skipped');
    const ended = tried ?? message.attempts[0] ?? skipped;
    return next({ ...message, attempts: [...message.attempts, skipped] }, ended, attemptNumber, now);
  }
  return {
    message: { ...message, attempts: [...message.attempts.slice(0, attemptNumber), attempt] },
    effects: [
      scheduleDeadline(attemptNumber, now + message.attemptTimeoutMs),
      { kind: 'submit', attemptNumber },
    ],
  };
}

function submitted(message: Message, attemptNumber: number, result: SubmitResult, now: number): ChainOutcome {
  const attempt = message.attempts[attemptNumber];
  if (attempt === undefined || attempt.state === 'skipped') return withoutEffects(message);
  switch (result.kind) {
    case 'accepted':
      return accepted(message, attemptNumber, attempt, result, now);
    case 'rejected':
      // What was decided already stands: only the first result of an attempt rejects it.
      return attempt.state === 'dispatching'
        ? rejected(message, attemptNumber, attempt, result, now)
        : withoutEffects(message);
    case 'unknown':
      return unknown(message, attemptNumber, attempt, result);
    default:
      return result satisfies never;
  }
}

function accepted(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  result: Extract<SubmitResult, { kind: 'accepted' }>,
  now: number,
): ChainOutcome {
  const state = attempt.state === 'dispatching' || attempt.state === 'unknown' ? 'accepted' : attempt.state;
  const withIds = replace(message, attemptNumber, {
    ...attempt,
    state,
    providerMessageIds: idsOf(result) ?? attempt.providerMessageIds,
  });
  const outcome = revokeLate(markSent(withIds, attempt.channel, now), attemptNumber, result);
  const isWaitedFor = state !== attempt.state && !message.isFinal && isCurrent(message, attemptNumber);
  const window = receiptTimeoutMs(attempt.channel);
  // The deadline of the attempt comes first as a rule, and schedules the end of the window then.
  if (!isWaitedFor || window >= message.attemptTimeoutMs || !isLast(message, attemptNumber)) return outcome;
  return {
    ...outcome,
    effects: [...outcome.effects, scheduleDeadline(attemptNumber, attempt.startedAt + window)],
  };
}

function rejected(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  result: Extract<SubmitResult, { kind: 'rejected' }>,
  now: number,
): ChainOutcome {
  const ended = { ...attempt, reason: providerText(result.reason), endedAt: now };
  if (isForLater(result) && now < busyRetriesEnd(message, attemptNumber)) {
    return {
      message: replace(message, attemptNumber, { ...ended, state: 'busy' }),
      effects: [
        { kind: 'unschedule', attemptNumber },
        { kind: 'schedule-start', attemptNumber, at: now + busyRetryMs(message) },
      ],
    };
  }
  const afterwards = replace(message, attemptNumber, { ...ended, state: 'rejected' });
  if (!isCurrent(message, attemptNumber) || message.isFinal) return withoutEffects(afterwards);
  const outcome = result.endsChain
    ? fail({ ...afterwards, errorReason: ended.reason }, ended, attemptNumber, now)
    : next(afterwards, ended, attemptNumber, now);
  if (result.cause !== 'sender' || message.campaignId === null) return outcome;
  const stop: ChainEffect = { kind: 'stop-campaign', reason: ended.reason };
  return { ...outcome, effects: [...outcome.effects, stop] };
}

/** Later results of an attempt only add the ids that were not known. */
function unknown(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  result: Extract<SubmitResult, { kind: 'unknown' }>,
): ChainOutcome {
  const isFirstResult = attempt.state === 'dispatching';
  const ids = attempt.providerMessageIds.length === 0 ? idsOf(result) : null;
  if (!isFirstResult && ids === null) return withoutEffects(message);
  const named = { ...attempt, providerMessageIds: ids ?? [] };
  const known = { ...named, state: 'unknown', reason: providerText(result.reason) } as const;
  const noted = replace(message, attemptNumber, isFirstResult ? known : named);
  return revokeLate(withoutEffects(noted), attemptNumber, result);
}

function receiptArrived(
  before: Message,
  { attemptNumber, providerMessageId, receipt }: Extract<ChainEvent, { kind: 'receipt' }>,
  now: number,
): ChainOutcome {
  const named = before.attempts[attemptNumber];
  if (named === undefined || named.state === 'skipped') return withoutEffects(before);
  const attempt = withCharge(named, receipt);
  const message = attempt === named ? before : replace(before, attemptNumber, attempt);
  switch (receipt.kind) {
    case 'sent':
      return acceptedByReceipt(message, attemptNumber, now);
    case 'failed': {
      if (!OPEN.has(attempt.state) && attempt.state !== 'timed-out') return withoutEffects(message);
      const failed = {
        ...attempt,
        state: 'failed',
        reason: providerText(receipt.reason),
        endedAt: now,
      } as const;
      const afterwards = replace(message, attemptNumber, failed);
      return isCurrent(message, attemptNumber) && OPEN.has(attempt.state) && !message.isFinal
        ? next(afterwards, failed, attemptNumber, now)
        : withoutEffects(afterwards);
    }
    case 'delivered':
    case 'read': {
      const deliveredIds = [...new Set([...attempt.deliveredIds, providerMessageId])];
      const delivered = { ...attempt, deliveredIds };
      const noted = replace(message, attemptNumber, delivered);
      return attempt.providerMessageIds.every((id) => deliveredIds.includes(id))
        ? succeeded(noted, attemptNumber, delivered, receipt.kind, now)
        : acceptedByReceipt(noted, attemptNumber, now);
    }
    default:
      return receipt satisfies never;
  }
}

/** The charge of a delivered message counts; that of a sent one is only expected, and may come after it. */
function withCharge(attempt: ChannelAttempt, receipt: DeliveryReceipt): ChannelAttempt {
  if (receipt.kind === 'failed' || receipt.charge === undefined) return attempt;
  if (receipt.kind === 'sent' && attempt.charge !== undefined) return attempt;
  return { ...attempt, charge: receipt.charge };
}

/** The provider took the message, or part of it, and its fate is open still. */
function acceptedByReceipt(message: Message, attemptNumber: number, now: number): ChainOutcome {
  return submitted(message, attemptNumber, { kind: 'accepted', providerMessageIds: [] }, now);
}

function succeeded(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  receipt: 'delivered' | 'read',
  now: number,
): ChainOutcome {
  const kind = attempt.channel === 'sms' ? 'delivered' : receipt;
  const state = attempt.state === 'read' ? 'read' : kind;
  const afterwards = replace(message, attemptNumber, {
    ...attempt,
    state,
    reason: null,
    endedAt: attempt.endedAt ?? now,
  });
  if (message.isFinal) {
    const wasDeliveredHere = attempt.state === 'delivered' && message.status === 'delivered';
    return withoutEffects(
      wasDeliveredHere ? { ...afterwards, status: raiseStatus(message.status, kind) } : afterwards,
    );
  }
  const final: Message = {
    ...finish(afterwards, now),
    status: raiseStatus(message.status, kind),
    sentAt: message.sentAt ?? now,
  };
  const sent: readonly ChainEffect[] =
    message.status === 'pending'
      ? [
          {
            kind: 'status-changed',
            status: 'sent',
            channel: attempt.channel,
            isFinal: false,
            reason: null,
          },
        ]
      : [];
  return {
    message: final,
    effects: [
      ...sent,
      {
        kind: 'status-changed',
        status: 'delivered',
        channel: attempt.channel,
        isFinal: true,
        reason: null,
      },
      { kind: 'settle', channel: attempt.channel },
      ...unscheduleOpen(message),
      ...revokeLater(final, attemptNumber),
    ],
  };
}

/** A late receipt ended the chain while a later attempt is on its way: the handset should not get both. */
function revokeLater(message: Message, attemptNumber: number): readonly ChainEffect[] {
  const last = message.attempts.length - 1;
  const isNamed = (message.attempts[last]?.providerMessageIds.length ?? 0) > 0;
  return last > attemptNumber && isNamed && isGivenUp(message, last)
    ? [{ kind: 'revoke', attemptNumber: last }]
    : [];
}

function deadline(message: Message, attemptNumber: number, now: number): ChainOutcome {
  const attempt = message.attempts[attemptNumber];
  if (
    message.isFinal ||
    attempt === undefined ||
    !isCurrent(message, attemptNumber) ||
    !OPEN.has(attempt.state)
  ) {
    return withoutEffects(message);
  }
  if (attempt.state === 'accepted' && isLast(message, attemptNumber)) {
    // Few messages wait so long: the end of the window is not scheduled before.
    const windowEndsAt = attempt.startedAt + receiptTimeoutMs(attempt.channel);
    if (now < windowEndsAt) {
      // Another process may have found the job due by a clock that is ahead: it must not do so again and again.
      const at = Math.max(windowEndsAt, now + DEADLINE_DELAY_MIN_MS);
      return { message, effects: [scheduleDeadline(attemptNumber, at)] };
    }
    return {
      message: finish(message, now),
      effects: [
        {
          kind: 'status-changed',
          status: 'sent',
          channel: attempt.channel,
          isFinal: true,
          reason: null,
        },
        { kind: 'settle', channel: attempt.channel },
      ],
    };
  }
  const timedOut = {
    ...attempt,
    state: 'timed-out',
    reason: attempt.reason ?? TIMED_OUT_REASON,
    endedAt: now,
  } as const;
  const outcome = next(replace(message, attemptNumber, timedOut), timedOut, attemptNumber, now);
  return timedOut.providerMessageIds.length === 0 ? outcome : withRevocation(outcome, attemptNumber);
}

/** Whether the chain waits no longer for this attempt, and it may reach the handset still. */
export function isGivenUp(message: Message, attemptNumber: number): boolean {
  const state = message.attempts[attemptNumber]?.state;
  if (state === undefined) return false;
  const isDelivered = message.attempts.some((each) => each.state === 'delivered' || each.state === 'read');
  return state === 'timed-out' || (message.isFinal && isDelivered && OPEN.has(state));
}

/** A submit result names what was submitted when the chain had given up on its attempt already. */
function revokeLate(
  outcome: ChainOutcome,
  attemptNumber: number,
  result: { readonly providerMessageIds: readonly string[] },
): ChainOutcome {
  return isGivenUp(outcome.message, attemptNumber) && idsOf(result) !== null
    ? withRevocation(outcome, attemptNumber)
    : outcome;
}

function withRevocation({ message, effects }: ChainOutcome, attemptNumber: number): ChainOutcome {
  return { message, effects: [...effects, { kind: 'revoke', attemptNumber }] };
}

/** The attempt ended without success for the reason of `ended`: the chain goes to the next channel, or fails. */
function next(message: Message, ended: ChannelAttempt, attemptNumber: number, now: number): ChainOutcome {
  const noted = { ...message, errorReason: ended.reason };
  if (attemptNumber + 1 >= message.channels.length) return fail(noted, ended, attemptNumber, now);
  return {
    message: noted,
    effects: [
      { kind: 'unschedule', attemptNumber },
      { kind: 'schedule-start', attemptNumber: attemptNumber + 1, at: now },
    ],
  };
}

/**
 * Until when a busy provider is tried again. A single message goes on with the next channel; on its last one it waits for as
 * long as an attempt may take.
 */
function busyRetriesEnd(message: Message, attemptNumber: number): number {
  const attempt = message.attempts[attemptNumber];
  if (attempt === undefined || message.isFinal) return Number.NEGATIVE_INFINITY;
  if (message.campaignId !== null) return triedSince(attempt) + BUSY_RETRIES_END_MS;
  return isLast(message, attemptNumber)
    ? triedSince(attempt) + message.attemptTimeoutMs - SINGLE_BUSY_RETRY_MS
    : Number.NEGATIVE_INFINITY;
}

function busyRetryMs({ campaignId }: Message): number {
  return campaignId === null ? SINGLE_BUSY_RETRY_MS : BUSY_RETRY_MS;
}

function triedSince({ triedSince: since, startedAt }: ChannelAttempt): number {
  return since ?? startedAt;
}

/** Whether the attempt is the one to start: the last one again when its provider was busy, else the one after it. */
function isToStart({ attempts }: Message, attemptNumber: number): boolean {
  const isBusy = attempts.at(-1)?.state === 'busy';
  return attemptNumber === (isBusy ? attempts.length - 1 : attempts.length);
}

function withdraw(
  message: Message,
  { attemptNumber, reason }: Extract<ChainEvent, { kind: 'withdraw' }>,
  now: number,
): ChainOutcome {
  const channel = message.channels[attemptNumber];
  if (message.isFinal || channel === undefined || !isToStart(message, attemptNumber)) {
    return withoutEffects(message);
  }
  return fail({ ...message, errorReason: reason }, { channel, reason }, attemptNumber, now);
}

function fail(
  message: Message,
  { channel, reason }: Pick<ChannelAttempt, 'channel' | 'reason'>,
  attemptNumber: number,
  now: number,
): ChainOutcome {
  return {
    message: { ...finish(message, now), status: raiseStatus(message.status, 'failed') },
    effects: [
      { kind: 'unschedule', attemptNumber },
      { kind: 'status-changed', status: 'failed', channel, isFinal: true, reason },
      { kind: 'settle', channel: null },
    ],
  };
}

/** A channel took the message: the status is `sent` once, and only before the final status. */
function markSent(message: Message, channel: Channel, now: number): ChainOutcome {
  if (message.isFinal || message.status === 'sent') return withoutEffects(message);
  return {
    message: { ...message, status: raiseStatus(message.status, 'sent'), sentAt: now },
    effects: [{ kind: 'status-changed', status: 'sent', channel, isFinal: false, reason: null }],
  };
}

function finish(message: Message, now: number): Message {
  return { ...message, isFinal: true, finalAt: now, content: maskContent(message.content) };
}

/** After the final status neither the deadline of the current attempt nor the start of the next one is needed. */
function unscheduleOpen(message: Message): readonly ChainEffect[] {
  const current = message.attempts.length - 1;
  const waiting: ChainEffect[] = [{ kind: 'unschedule', attemptNumber: current }];
  if (current + 1 < message.channels.length) waiting.push({ kind: 'unschedule', attemptNumber: current + 1 });
  return waiting;
}

function isCurrent(message: Message, attemptNumber: number): boolean {
  return attemptNumber === message.attempts.length - 1;
}

/** Whether no later channel could carry the message: moving on would only end the chain. */
function isLast(message: Message, attemptNumber: number): boolean {
  return !message.channels.slice(attemptNumber + 1).some((channel) => canCarry(channel, message.content));
}

/** The provider's ids as they are kept; null when it named none. */
function idsOf({ providerMessageIds }: { readonly providerMessageIds: readonly string[] }) {
  return providerMessageIds.length === 0 ? null : [...new Set(providerMessageIds.map(providerText))];
}

function scheduleDeadline(attemptNumber: number, at: number): ChainEffect {
  return { kind: 'schedule-deadline', attemptNumber, at };
}

function replace(message: Message, attemptNumber: number, attempt: ChannelAttempt): Message {
  return {
    ...message,
    attempts: message.attempts.map((existing, at) => (at === attemptNumber ? attempt : existing)),
  };
}

function withoutEffects(message: Message): ChainOutcome {
  return { message, effects: [] };
}
