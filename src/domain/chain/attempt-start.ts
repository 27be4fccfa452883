import type { ChannelAttempt, Message } from '../messages/message.ts';
import { canCarry } from '../messages/send-request.ts';
import type { ChainEvent } from './chain-event.ts';
import type { ChainOutcome } from './chain-outcome.ts';
import { fail, next, OPEN_STATES, scheduleDeadline, triedSince, withoutEffects } from './chain-outcome.ts';

const CANNOT_CARRY_REASON = 'The channel cannot carry this message';

/**
 * The attempt is started, unless another one is open or the message is final. A channel that cannot carry the message is skipped.
 */
export function start(
  message: Message,
  { attemptNumber, startId }: Extract<ChainEvent, { kind: 'start' }>,
  now: number,
): ChainOutcome {
  const channel = message.channels[attemptNumber];
  const before = message.attempts.at(-1);
  if (before !== undefined && OPEN_STATES.has(before.state)) return withoutEffects(message);
  if (message.isFinal || channel === undefined || !isToStart(message, attemptNumber))
    return withoutEffects(message);
  const attempt: ChannelAttempt = {
    channel,
    state: 'dispatching',
    reason: null,
    providerMessageIds: [],
    deliveredIds: [],
    startedAt: now,
    ...(startId === undefined ? {} : { startId }),
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

/** Whether the attempt waits for the submit result of this start, and nothing has ended it. */
export function isDispatchedBy(message: Message, attemptNumber: number, startId: string): boolean {
  const attempt = message.attempts[attemptNumber];
  return !message.isFinal && attempt?.state === 'dispatching' && attempt.startId === startId;
}

/** The attempt is not started, and the message fails for the given reason. */
export function cancel(
  message: Message,
  { attemptNumber, reason }: Extract<ChainEvent, { kind: 'cancel' }>,
  now: number,
): ChainOutcome {
  const channel = message.channels[attemptNumber];
  if (message.isFinal || channel === undefined || !isToStart(message, attemptNumber)) {
    return withoutEffects(message);
  }
  return fail({ ...message, errorReason: reason }, { channel, reason }, attemptNumber, now);
}

/** Whether the attempt is the one to start: the last one again when its provider was busy, else the one after it. */
function isToStart({ attempts }: Message, attemptNumber: number): boolean {
  const isBusy = attempts.at(-1)?.state === 'busy';
  return attemptNumber === (isBusy ? attempts.length - 1 : attempts.length);
}
