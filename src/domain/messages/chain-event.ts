import type { Channel } from './channel.ts';
import type { Message } from './message.ts';

/** What a channel says later about a submission it may have taken. */
export type Report =
  | { readonly kind: 'sent' }
  | { readonly kind: 'delivered' }
  | { readonly kind: 'read' }
  | { readonly kind: 'failed'; readonly reason: string };

/** What a channel says at once. `unknown`: it may or may not have taken the message. */
export type Answer =
  | { readonly kind: 'accepted'; readonly reference: string | null }
  | { readonly kind: 'refused'; readonly reason: string; readonly endsChain: boolean }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Everything a chain is told. `step` is the position in the chain the news is about. */
export type ChainEvent =
  | { readonly kind: 'start'; readonly step: number }
  | { readonly kind: 'answered'; readonly step: number; readonly answer: Answer }
  | { readonly kind: 'reported'; readonly step: number; readonly report: Report }
  | { readonly kind: 'deadline'; readonly step: number };

/** What has to be done because of it, in the same transaction. */
export type ChainEffect =
  /** Hand the message to this step's channel, once the step is committed. */
  | { readonly kind: 'submit'; readonly step: number }
  /** Come back with `start` for this step, now. */
  | { readonly kind: 'schedule-start'; readonly step: number }
  /** Come back with `deadline` for this step at this instant, and at no other. */
  | { readonly kind: 'schedule-deadline'; readonly step: number; readonly at: number }
  /** Nothing that was scheduled for this step is wanted any more. */
  | { readonly kind: 'unschedule'; readonly step: number }
  /** Resolve the hold: `channel` carried the message, or null when every channel failed. */
  | { readonly kind: 'settle'; readonly channel: Channel | null }
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
