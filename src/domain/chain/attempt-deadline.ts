import type { ChannelAttempt, Message } from '../messages/message.ts';
import { SUBMIT_TIMEOUT_MS } from '../providers/submit-result.ts';
import type { ChainOutcome } from './chain-outcome.ts';
import {
  finish,
  isCurrent,
  isLast,
  next,
  OPEN_STATES,
  replace,
  scheduleDeadline,
  withoutEffects,
  withRevocation,
} from './chain-outcome.ts';
import { receiptWindowMs } from './receipt-window.ts';

const TIMED_OUT_REASON = 'No delivered receipt in time';

/** A deadline that came too early comes again after this time at the soonest, in milliseconds. */
const DEADLINE_DELAY_MIN_MS = 1_000;

/** A submit result that is not stored this long after its call must have ended is held up, in milliseconds. */
const RESULT_LATE_MS = 1_000;

/** A deadline that comes so late comes after an outage, in milliseconds: receipts could not be stored meanwhile either. */
const DEADLINE_LATE_MS = 1_000;

/**
 * After an outage of the database a submit result is stored within this time, in milliseconds: 5 s for a connection that hangs,
 * 0.5 s to the next try, and the commit. Most providers bring receipts again that soon.
 */
export const ATTEMPT_GRACE_MS = 6_000;

/**
 * A receipt window that ends late ended in an outage, or by a clock that is ahead. Providers bring what they could not deliver
 * meanwhile within this time, in milliseconds: many try again every few minutes.
 */
export const WINDOW_GRACE_MS = 600_000;

/** An attempt gets no further grace when its time was over this long ago, in milliseconds: the chain has to go on. */
const GRACES_END_MS = 15_000;

/**
 * The time of the attempt is over: the chain goes on, unless the provider has taken the message on the last channel. That one
 * waits for its receipt, and ends as sent without; when the end of that wait comes late, it waits once more. An attempt gets a
 * grace when its deadline comes late or its submit result is held up, and another one when the end of a grace comes late, too:
 * the database may have been away twice.
 */
export function deadline(message: Message, attemptNumber: number, now: number): ChainOutcome {
  const attempt = message.attempts[attemptNumber];
  if (
    message.isFinal ||
    attempt === undefined ||
    !isCurrent(message, attemptNumber) ||
    !OPEN_STATES.has(attempt.state)
  ) {
    return withoutEffects(message);
  }
  if (attempt.state === 'accepted' && isLast(message, attemptNumber)) {
    // Few messages wait so long: the end of the window is not scheduled before.
    const windowEndsAt = attempt.startedAt + receiptWindowMs(attempt.channel);
    if (now < windowEndsAt) {
      // Another process may have found the job due by a clock that is ahead: it must not do so again and again.
      const at = Math.max(windowEndsAt, now + DEADLINE_DELAY_MIN_MS);
      return { message, effects: [scheduleDeadline(attemptNumber, at)] };
    }
    const hadGrace = attempt.graceEndsAt !== undefined && attempt.graceEndsAt > windowEndsAt;
    if (!hadGrace && isLate(windowEndsAt, now)) {
      return withGrace(message, attemptNumber, attempt, now + WINDOW_GRACE_MS);
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
  const { attemptTimeoutMs } = message;
  if (getsGrace(attempt, attemptTimeoutMs, now)) {
    return withGrace(message, attemptNumber, attempt, now + ATTEMPT_GRACE_MS);
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

function withGrace(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  graceEndsAt: number,
): ChainOutcome {
  return {
    message: replace(message, attemptNumber, { ...attempt, graceEndsAt }),
    effects: [scheduleDeadline(attemptNumber, graceEndsAt)],
  };
}

function getsGrace(attempt: ChannelAttempt, attemptTimeoutMs: number, now: number): boolean {
  const { startedAt, graceEndsAt } = attempt;
  const endsAt = startedAt + attemptTimeoutMs;
  if (graceEndsAt !== undefined) return isLate(graceEndsAt, now) && now < endsAt + GRACES_END_MS;
  return isLate(endsAt, now) || isResultHeldUp(attempt, attemptTimeoutMs, now);
}

/** Whether a deadline of this instant should have come before. */
function isLate(at: number, now: number): boolean {
  return now >= at + DEADLINE_LATE_MS;
}

/**
 * Whether the result should be stored by now: its process has stopped, or the database was away and the process stores the
 * result soon. The process that finds the deadline cannot tell, for it may have started after the outage.
 */
function isResultHeldUp(
  { state, startedAt }: ChannelAttempt,
  attemptTimeoutMs: number,
  now: number,
): boolean {
  if (state !== 'dispatching') return false;
  return now >= startedAt + Math.min(SUBMIT_TIMEOUT_MS, attemptTimeoutMs) + RESULT_LATE_MS;
}
