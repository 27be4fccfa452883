import type { AttemptState, ChannelAttempt, Message } from '../messages/message.ts';
import { raiseStatus } from '../messages/message-status.ts';
import { isForLater, type SubmitResult } from '../providers/submit-result.ts';
import type { Channel } from '../shared/channel.ts';
import { providerText } from '../shared/provider-text.ts';
import { busyRetryAt } from './busy-retry.ts';
import type { SubmittedEvent } from './chain-event.ts';
import type { ChainEffect, ChainOutcome } from './chain-outcome.ts';
import {
  fail,
  isCurrent,
  isGivenUp,
  isLast,
  next,
  replace,
  scheduleDeadline,
  withoutEffects,
  withRevocation,
} from './chain-outcome.ts';
import { receiptWindowMs } from './receipt-window.ts';

/** The states of an attempt of which a provider may say still that it took the message. */
const NOT_TAKEN_YET: ReadonlySet<AttemptState> = new Set<AttemptState>(['dispatching', 'unknown', 'busy']);

/**
 * What the provider said at once: it took the message, rejected it, or nobody knows. A result may be stored twice, and come
 * again after the attempt of a busy provider has started again: only a result of the newest start rejects the attempt, while
 * nothing else is known, and only the first one makes it unknown. That a provider took the message is true of any start.
 */
export function submitted(
  message: Message,
  { attemptNumber, startId, provider, result }: SubmittedEvent,
  now: number,
): ChainOutcome {
  const named = message.attempts[attemptNumber];
  if (named === undefined || named.state === 'skipped') return withoutEffects(message);
  const attempt = provider === undefined ? named : { ...named, provider };
  const isOfNewestStart = attempt.startId === startId;
  const isFirstResult = isOfNewestStart && attempt.state === 'dispatching';
  switch (result.kind) {
    case 'accepted':
      return accepted(message, attemptNumber, attempt, result, now);
    case 'rejected':
      return isOfNewestStart && isUndecided(attempt)
        ? rejected(message, attemptNumber, attempt, result, now)
        : withoutEffects(message);
    case 'unknown':
      return unknown(message, attemptNumber, attempt, result, isFirstResult);
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
  const state = NOT_TAKEN_YET.has(attempt.state) ? 'accepted' : attempt.state;
  const withIds = replace(message, attemptNumber, {
    ...attempt,
    state,
    endedAt: state === 'accepted' ? null : attempt.endedAt,
    providerMessageIds: idsOf(result) ?? attempt.providerMessageIds,
  });
  const outcome = revokeLate(markSent(withIds, attempt.channel, now), attemptNumber, result);
  const isWaitedFor = state !== attempt.state && !message.isFinal && isCurrent(message, attemptNumber);
  if (isWaitedFor && attempt.state === 'busy') {
    const waits: ChainEffect[] = [
      { kind: 'unschedule', attemptNumber },
      scheduleDeadline(attemptNumber, now + message.attemptTimeoutMs),
    ];
    return { ...outcome, effects: [...outcome.effects, ...waits] };
  }
  const window = receiptWindowMs(attempt.channel);
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
  // A channel whose result was unknown is never called again, whatever it says later.
  if (attempt.state === 'dispatching' && isForLater(result)) {
    const at = busyRetryAt(message, attemptNumber, attempt, now);
    if (at !== null) {
      return {
        message: replace(message, attemptNumber, { ...ended, state: 'busy' }),
        effects: [
          { kind: 'unschedule', attemptNumber },
          { kind: 'schedule-start', attemptNumber, at },
        ],
      };
    }
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

/** What was decided already stands: a rejection counts while nothing else is known, also one that comes late. */
function isUndecided({ state, providerMessageIds }: ChannelAttempt): boolean {
  return state === 'dispatching' || (state === 'unknown' && providerMessageIds.length === 0);
}

/** A later result without an outcome only adds the ids that were not known. */
function unknown(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  result: Extract<SubmitResult, { kind: 'unknown' }>,
  isFirstResult: boolean,
): ChainOutcome {
  const ids = attempt.providerMessageIds.length === 0 ? idsOf(result) : null;
  if (!isFirstResult && ids === null) return withoutEffects(message);
  const named = { ...attempt, providerMessageIds: ids ?? [] };
  const known = { ...named, state: 'unknown', reason: providerText(result.reason) } as const;
  const noted = replace(message, attemptNumber, isFirstResult ? known : named);
  return revokeLate(withoutEffects(noted), attemptNumber, result);
}

/** A channel took the message: the status is `sent` once, and only before the final status. */
function markSent(message: Message, channel: Channel, now: number): ChainOutcome {
  if (message.isFinal || message.status === 'sent') return withoutEffects(message);
  return {
    message: { ...message, status: raiseStatus(message.status, 'sent'), sentAt: now },
    effects: [{ kind: 'status-changed', status: 'sent', channel, isFinal: false, reason: null }],
  };
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

/** The provider's ids as they are kept; null when it named none. */
function idsOf({ providerMessageIds }: { readonly providerMessageIds: readonly string[] }) {
  return providerMessageIds.length === 0 ? null : [...new Set(providerMessageIds.map(providerText))];
}
