import { plainText } from '../shared/plain-text.ts';
import type { Answer, ChainEffect, ChainEvent, ChainOutcome, Report } from './chain-event.ts';
import type { Channel } from './channel.ts';
import type { Message, Step, StepState } from './message.ts';
import { isTerminal, raiseStatus } from './message-status.ts';
import { reportWindowMs } from './report-window.ts';
import { canCarry, maskContent } from './send-request.ts';

const TIMED_OUT_REASON = 'No delivered report in time';
const CANNOT_CARRY_REASON = 'The channel cannot carry this message';

const OPEN: ReadonlySet<StepState> = new Set<StepState>(['dispatching', 'accepted', 'unknown']);

/**
 * Tells the chain what happened and learns what to do next. Late, doubled and reversed news are ordinary
 * input: they may colour the trace, and never reopen, lower or charge anything a second time.
 */
export function advance(message: Message, event: ChainEvent, now: number): ChainOutcome {
  switch (event.kind) {
    case 'start':
      return start(message, event.step, now);
    case 'answered':
      return answered(message, event.step, event.answer, now);
    case 'reported':
      return reported(message, event.step, event.report, now);
    case 'deadline':
      return deadline(message, event.step, now);
    default:
      return event satisfies never;
  }
}

function start(message: Message, index: number, now: number): ChainOutcome {
  const channel = message.channels[index];
  const before = message.steps.at(-1);
  if (before !== undefined && OPEN.has(before.state)) return withoutEffects(message);
  if (message.isFinal || channel === undefined || message.steps.length !== index)
    return withoutEffects(message);
  const step: Step = {
    channel,
    state: 'dispatching',
    reason: null,
    reference: null,
    startedAt: now,
    endedAt: null,
  };
  if (!canCarry(channel, message.content)) {
    const skipped = { ...step, state: 'skipped', reason: CANNOT_CARRY_REASON, endedAt: now } as const;
    // A channel that was left out says nothing of why the message failed; the last one tried does.
    const tried = message.steps.findLast(({ state }) => state !== 'skipped');
    const ended = tried ?? message.steps[0] ?? skipped;
    return next({ ...message, steps: [...message.steps, skipped] }, ended, index, now);
  }
  return {
    message: { ...message, steps: [...message.steps, step] },
    effects: [
      { kind: 'schedule-deadline', step: index, at: now + message.stepTimeoutMs },
      { kind: 'submit', step: index },
    ],
  };
}

function answered(message: Message, index: number, answer: Answer, now: number): ChainOutcome {
  const step = message.steps[index];
  if (step === undefined || step.state === 'skipped') return withoutEffects(message);
  const isFirstAnswer = step.state === 'dispatching';
  switch (answer.kind) {
    case 'accepted': {
      const state = isFirstAnswer || step.state === 'unknown' ? 'accepted' : step.state;
      const withReference = replace(message, index, {
        ...step,
        state,
        reference: answer.reference === null ? step.reference : plainText(answer.reference),
      });
      const waiting: readonly ChainEffect[] =
        state !== step.state && !message.isFinal && isCurrent(message, index) && isLast(message, index)
          ? [{ kind: 'schedule-deadline', step: index, at: now + reportWindowMs(step.channel) }]
          : [];
      return withEffects(markSent(withReference, step.channel, now), waiting);
    }
    case 'refused': {
      if (!isFirstAnswer) return withoutEffects(message);
      const refused = { ...step, state: 'refused', reason: plainText(answer.reason), endedAt: now } as const;
      const afterwards = replace(message, index, refused);
      if (!isCurrent(message, index) || message.isFinal) return withoutEffects(afterwards);
      return answer.endsChain
        ? fail({ ...afterwards, errorReason: plainText(answer.reason) }, refused, index, now)
        : next(afterwards, refused, index, now);
    }
    case 'unknown':
      return withoutEffects(
        isFirstAnswer
          ? replace(message, index, { ...step, state: 'unknown', reason: plainText(answer.reason) })
          : message,
      );
    default:
      return answer satisfies never;
  }
}

function reported(message: Message, index: number, report: Report, now: number): ChainOutcome {
  const step = message.steps[index];
  if (step === undefined || step.state === 'skipped') return withoutEffects(message);
  switch (report.kind) {
    case 'sent':
      return answered(message, index, { kind: 'accepted', reference: null }, now);
    case 'failed': {
      if (!OPEN.has(step.state) && step.state !== 'timed-out') return withoutEffects(message);
      const failed = { ...step, state: 'failed', reason: plainText(report.reason), endedAt: now } as const;
      const afterwards = replace(message, index, failed);
      return isCurrent(message, index) && OPEN.has(step.state) && !message.isFinal
        ? next(afterwards, failed, index, now)
        : withoutEffects(afterwards);
    }
    case 'delivered':
    case 'read':
      return succeeded(message, index, step, report.kind, now);
    default:
      return report satisfies never;
  }
}

function succeeded(
  message: Message,
  index: number,
  step: Step,
  report: 'delivered' | 'read',
  now: number,
): ChainOutcome {
  const kind = step.channel === 'sms' ? 'delivered' : report;
  const state = step.state === 'read' ? 'read' : kind;
  const afterwards = replace(message, index, { ...step, state, reason: null, endedAt: step.endedAt ?? now });
  if (message.isFinal) {
    const wasDeliveredHere = message.steps[index]?.state === 'delivered' && message.status === 'delivered';
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
      ? [{ kind: 'status-changed', status: 'sent', channel: step.channel, isFinal: false, reason: null }]
      : [];
  return {
    message: final,
    effects: [
      ...sent,
      { kind: 'status-changed', status: 'delivered', channel: step.channel, isFinal: true, reason: null },
      { kind: 'settle', channel: step.channel },
      ...unscheduleOpen(message),
    ],
  };
}

function deadline(message: Message, index: number, now: number): ChainOutcome {
  const step = message.steps[index];
  if (message.isFinal || step === undefined || !isCurrent(message, index) || !OPEN.has(step.state)) {
    return withoutEffects(message);
  }
  if (step.state === 'accepted' && isLast(message, index)) {
    return {
      message: finish(message, now),
      effects: [
        { kind: 'status-changed', status: 'sent', channel: step.channel, isFinal: true, reason: null },
        { kind: 'settle', channel: step.channel },
      ],
    };
  }
  const timedOut = {
    ...step,
    state: 'timed-out',
    reason: step.reason ?? TIMED_OUT_REASON,
    endedAt: now,
  } as const;
  return next(replace(message, index, timedOut), timedOut, index, now);
}

/** The step at `index` is over without success, and `ended` says why: on to the next channel, or the end. */
function next(message: Message, ended: Step, index: number, now: number): ChainOutcome {
  const noted = { ...message, errorReason: ended.reason };
  if (index + 1 >= message.channels.length) return fail(noted, ended, index, now);
  return {
    message: noted,
    effects: [
      { kind: 'unschedule', step: index },
      { kind: 'schedule-start', step: index + 1 },
    ],
  };
}

function fail(message: Message, { channel, reason }: Step, index: number, now: number): ChainOutcome {
  return {
    message: { ...finish(message, now), status: raiseStatus(message.status, 'failed') },
    effects: [
      { kind: 'unschedule', step: index },
      { kind: 'status-changed', status: 'failed', channel, isFinal: true, reason },
      { kind: 'settle', channel: null },
    ],
  };
}

/** Some channel took the message: `sent` is said once, and only before the final word. */
function markSent(message: Message, channel: Channel, now: number): ChainOutcome {
  if (message.isFinal || isTerminal(message.status) || message.status === 'sent')
    return withoutEffects(message);
  return {
    message: { ...message, status: raiseStatus(message.status, 'sent'), sentAt: now },
    effects: [{ kind: 'status-changed', status: 'sent', channel, isFinal: false, reason: null }],
  };
}

function finish(message: Message, now: number): Message {
  return { ...message, isFinal: true, finalAt: now, content: maskContent(message.content) };
}

/** A final word makes the current step's deadline and a start that is still waiting pointless. */
function unscheduleOpen(message: Message): readonly ChainEffect[] {
  const current = message.steps.length - 1;
  const waiting: ChainEffect[] = [{ kind: 'unschedule', step: current }];
  if (current + 1 < message.channels.length) waiting.push({ kind: 'unschedule', step: current + 1 });
  return waiting;
}

function isCurrent(message: Message, index: number): boolean {
  return index === message.steps.length - 1;
}

/** Whether no later channel could carry the message: moving on would only end the chain. */
function isLast(message: Message, index: number): boolean {
  return !message.channels.slice(index + 1).some((channel) => canCarry(channel, message.content));
}

function replace(message: Message, index: number, step: Step): Message {
  return { ...message, steps: message.steps.map((existing, at) => (at === index ? step : existing)) };
}

function withEffects(first: ChainOutcome, more: readonly ChainEffect[]): ChainOutcome {
  return { message: first.message, effects: [...first.effects, ...more] };
}

function withoutEffects(message: Message): ChainOutcome {
  return { message, effects: [] };
}
