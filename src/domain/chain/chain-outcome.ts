import type { AttemptState, ChannelAttempt, Message } from '../messages/message.ts';
import { raiseStatus } from '../messages/message-status.ts';
import { canCarry, maskContent } from '../messages/send-request.ts';
import type { Channel } from '../shared/channel.ts';

/** What has to be done because of what a chain was told, in the same transaction. */
export type ChainEffect =
  /** Submit the message to the channel of this attempt, once the attempt is committed. */
  | { readonly kind: 'submit'; readonly attemptNumber: number }
  /** Take back what this attempt submitted, once this is committed: the chain gave up on it. */
  | { readonly kind: 'revoke'; readonly attemptNumber: number }
  /** Come back with `start` for this attempt at this instant. */
  | { readonly kind: 'schedule-start'; readonly attemptNumber: number; readonly at: number }
  /** Come back with `deadline` for this attempt at this instant, and at no other. */
  | { readonly kind: 'schedule-deadline'; readonly attemptNumber: number; readonly at: number }
  /** Nothing that was scheduled for this attempt is wanted any more. */
  | { readonly kind: 'unschedule'; readonly attemptNumber: number }
  /** Resolve the hold: `channel` carried the message, or null when every channel failed. */
  | { readonly kind: 'settle'; readonly channel: Channel | null }
  /** The campaign of the message cannot go on. */
  | { readonly kind: 'stop-campaign'; readonly reason: string }
  /** The customer's view of the message changed (specification 6.1). */
  | {
      readonly kind: 'status-changed';
      readonly status: 'sent' | 'delivered' | 'failed';
      readonly channel: Channel;
      readonly isFinal: boolean;
      readonly reason: string | null;
    };

/** A message after it was told something, and what has to be done. */
export interface ChainOutcome {
  readonly message: Message;
  readonly effects: readonly ChainEffect[];
}

/** The states of an attempt whose fate is open. */
export const OPEN_STATES: ReadonlySet<AttemptState> = new Set<AttemptState>([
  'dispatching',
  'accepted',
  'unknown',
]);

/** The message as it is now, and nothing to do. */
export function withoutEffects(message: Message): ChainOutcome {
  return { message, effects: [] };
}

/** The attempt ended without success for the reason of `ended`: the chain goes to the next channel, or fails. */
export function next(
  message: Message,
  ended: ChannelAttempt,
  attemptNumber: number,
  now: number,
): ChainOutcome {
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

/** The chain ends without success, after the attempt that ended for this reason. Nothing is charged. */
export function fail(
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

/** The message with its final status to come: its content cannot be read from here on. */
export function finish(message: Message, now: number): Message {
  return { ...message, isFinal: true, finalAt: now, content: maskContent(message.content) };
}

/** The message with this attempt in place of the one at `attemptNumber`. */
export function replace(message: Message, attemptNumber: number, attempt: ChannelAttempt): Message {
  return {
    ...message,
    attempts: message.attempts.map((existing, at) => (at === attemptNumber ? attempt : existing)),
  };
}

/** Whether no later attempt was started. */
export function isCurrent(message: Message, attemptNumber: number): boolean {
  return attemptNumber === message.attempts.length - 1;
}

/** Whether no later channel could carry the message: moving on would only end the chain. */
export function isLast(message: Message, attemptNumber: number): boolean {
  return !message.channels.slice(attemptNumber + 1).some((channel) => canCarry(channel, message.content));
}

/** Whether the chain waits no longer for this attempt, and it may reach the handset still. */
export function isGivenUp(message: Message, attemptNumber: number): boolean {
  const state = message.attempts[attemptNumber]?.state;
  if (state === undefined) return false;
  const isDelivered = message.attempts.some((each) => each.state === 'delivered' || each.state === 'read');
  return state === 'timed-out' || (message.isFinal && isDelivered && OPEN_STATES.has(state));
}

/** The outcome, and what the attempt submitted is taken back. */
export function withRevocation({ message, effects }: ChainOutcome, attemptNumber: number): ChainOutcome {
  return { message, effects: [...effects, { kind: 'revoke', attemptNumber }] };
}

/** The time of the attempt ends at this instant, and at no other. */
export function scheduleDeadline(attemptNumber: number, at: number): ChainEffect {
  return { kind: 'schedule-deadline', attemptNumber, at };
}

/** When the attempt was tried first: a busy provider is tried again. Milliseconds since 1970. */
export function triedSince({ triedSince: since, startedAt }: ChannelAttempt): number {
  return since ?? startedAt;
}
