import type { Channel } from '../shared/channel.ts';
import type { Message } from './message.ts';

/** What a channel says later about a submission it may have taken. */
export type DeliveryReceipt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'delivered' }
  | { readonly kind: 'read' }
  | { readonly kind: 'failed'; readonly reason: string };

/** What a channel says at once. `unknown`: it may or may not have taken the message. */
export type SubmitResult =
  | { readonly kind: 'accepted'; readonly providerMessageIds: readonly string[] }
  | { readonly kind: 'rejected'; readonly reason: string; readonly endsChain: boolean }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Everything a chain is told. `attemptNumber` is the position in the chain the news is about. */
export type ChainEvent =
  | { readonly kind: 'start'; readonly attemptNumber: number }
  | { readonly kind: 'submitted'; readonly attemptNumber: number; readonly result: SubmitResult }
  | { readonly kind: 'receipt'; readonly attemptNumber: number; readonly receipt: DeliveryReceipt }
  | { readonly kind: 'deadline'; readonly attemptNumber: number };

/** What has to be done because of it, in the same transaction. */
export type ChainEffect =
  /** Hand the message to this step's channel, once the attempt is committed. */
  | { readonly kind: 'submit'; readonly attemptNumber: number }
  /** Come back with `start` for this attempt, now. */
  | { readonly kind: 'schedule-start'; readonly attemptNumber: number }
  /** Come back with `deadline` for this attempt at this instant, and at no other. */
  | { readonly kind: 'schedule-deadline'; readonly attemptNumber: number; readonly at: number }
  /** Nothing that was scheduled for this attempt is wanted any more. */
  | { readonly kind: 'unschedule'; readonly attemptNumber: number }
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
