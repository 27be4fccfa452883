import type { DeliveryReceipt } from '../providers/delivery-receipt.ts';
import type { SubmitResult } from '../providers/submit-result.ts';
import type { Channel } from '../shared/channel.ts';

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
