import type { Message } from '../messages/message.ts';
import type { SubmitResult } from '../providers/submit-result.ts';
import type { Channel } from '../shared/channel.ts';
import type { DeliveryReceipt } from '../shared/delivery-receipt.ts';

/** What the provider said at once about the start of the attempt that has the `startId`. */
export interface SubmittedEvent {
  readonly kind: 'submitted';
  readonly attemptNumber: number;
  readonly startId?: string | undefined;
  /** Whose result it is; absent when no provider was called. */
  readonly provider?: string | undefined;
  readonly result: SubmitResult;
}

/**
 * Whose receipt it is that names its attempt itself. Every provider of a route is told the same name, also one that did not
 * take the message.
 */
export interface ReceiptClaim {
  readonly channel: Channel;
  readonly provider: string;
}

/** Everything a chain is told. `attemptNumber` is the position in the chain of the attempt that the event is about. */
export type ChainEvent =
  | { readonly kind: 'start'; readonly attemptNumber: number; readonly startId?: string }
  | SubmittedEvent
  | {
      readonly kind: 'receipt';
      readonly attemptNumber: number;
      readonly providerMessageId: string;
      readonly receipt: DeliveryReceipt;
      /** Present when the receipt names the attempt, and its id is recorded for none or for another one. */
      readonly claim?: ReceiptClaim;
    }
  | { readonly kind: 'deadline'; readonly attemptNumber: number }
  /** The attempt will not be started: its campaign was stopped, or the message comes from a backup. */
  | { readonly kind: 'cancel'; readonly attemptNumber: number; readonly reason: string };

/** What has to be done because of it, in the same transaction. */
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
