import type { AttemptRef } from '../../domain/chain/attempt-name.ts';
import type { DeliveryReceipt } from '../../domain/providers/delivery-receipt.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import type { InboundContent } from '../../domain/webhooks/inbound-event.ts';

/** A delivery receipt under the provider's own id. It may come late, twice, in any order, or before the submit result. */
export interface SubmissionReceipt {
  readonly channel: Channel;
  readonly providerMessageId: string;
  readonly receipt: DeliveryReceipt;
  /** The attempt that the receipt names, in its id or beside it: it is known before any submit result is. */
  readonly attempt?: AttemptRef | undefined;
}

/** An attempt that the provider took after all: its response came when the submit result was `unknown` already. */
export interface LateAcceptance {
  readonly smsId: string;
  readonly attemptNumber: number;
  readonly channel: Channel;
  readonly providerMessageIds: readonly string[];
}

/** A whatsapp message that a handset wrote to one of the projects' numbers. */
export interface InboundArrival {
  /** Our 24-hex id of the number it came in on. */
  readonly whatsappPhoneId: string;
  readonly contact: { readonly phoneNumber: string; readonly name: string };
  /** The provider's own id of the message, unique for the number: a second arrival of it is dropped. */
  readonly messageId: string;
  readonly content: InboundContent;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

/** What a channel provider brings: a delivery receipt, an acceptance that came late, or a message that a handset wrote. */
export type ProviderEvent =
  | { readonly kind: 'receipt'; readonly receipt: SubmissionReceipt }
  | { readonly kind: 'accepted'; readonly acceptance: LateAcceptance }
  | { readonly kind: 'inbound'; readonly arrival: InboundArrival };

/**
 * What became of one of the events: `failure` is null when it is committed, else it may not be, and has to come again.
 * `StorageLocked`: a row of its project is locked, and it may be committed once that is over.
 */
export type EventSettled = (index: number, failure: unknown) => void;

/**
 * Takes the events of a provider. Resolves when all receipts and inbound messages are committed, and only then may the provider
 * acknowledge them. Rejects when one may not be committed: the provider then brings them again. An event may come any number of
 * times.
 *
 * With `settled`, which is called once for each event, it never rejects. It resolves when the next events may follow: receipts
 * that are not settled then wait for a lock of their project, and no receipt of another project waits for them. Inbound messages
 * are all settled.
 */
export type ProviderEventSink = (events: readonly ProviderEvent[], settled?: EventSettled) => Promise<void>;

/** A provider inside the process whose events come due by the service's clock instead of arriving over a network. */
export interface ProviderEventSource {
  /** Hands the events that are due to the sink, and resolves with how many were committed. Never rejects. */
  deliverDue(): Promise<number>;
  /** When the next event is due (milliseconds since 1970), or null when none is expected. */
  nextDueAt(): number | null;
}
