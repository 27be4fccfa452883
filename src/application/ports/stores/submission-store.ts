import type { Channel } from '../../../domain/shared/channel.ts';
import type { DeliveryReceipt } from '../../../domain/shared/delivery-receipt.ts';

/** A provider's own id of a message, or of one part of it; unique within the channel. */
export interface ProviderMessageId {
  readonly channel: Channel;
  readonly providerMessageId: string;
}

/** The attempt a provider message id belongs to. */
export interface AttemptRef {
  readonly smsId: string;
  readonly attemptNumber: number;
}

export interface IdentifiedReceipt extends ProviderMessageId {
  readonly receipt: DeliveryReceipt;
}

/**
 * Which attempt a provider message id belongs to. A receipt that comes before its id is recorded is parked under the id.
 * Recording and parking lock the id, so that of two transactions at once the later one sees the other.
 */
export interface SubmissionStore {
  /**
   * Records the ids until `expiresAt` (milliseconds since 1970), which is `SUBMISSION_LIFETIME_MS` from now, and returns the
   * receipts that were parked under them and are not expired, each once. An id that is recorded already belongs to the newer
   * attempt from then on.
   */
  record(
    submissions: readonly (ProviderMessageId & AttemptRef)[],
    expiresAt: number,
  ): Promise<readonly (IdentifiedReceipt & AttemptRef)[]>;
  /** The attempt of each id, in the given order, without a lock; null for an id that is not recorded. */
  find(ids: readonly ProviderMessageId[]): Promise<readonly (AttemptRef | null)[]>;
  /** What is parked under each id, in the given order, without a lock. */
  parkedUnder(ids: readonly ProviderMessageId[]): Promise<readonly (readonly DeliveryReceipt[])[]>;
  /**
   * Parks receipts until `expiresAt`, which is `PARKED_RECEIPT_LIFETIME_MS` from now, with those parked under their ids before
   * that are not expired, one of each kind per id. Says what became of each, in the given order: the attempt of an id that is
   * recorded, `parked`, or `dropped`. Nothing is dropped under an id that the store has. Of the new ids of each provider the
   * first ones are kept, as many as are left of `idsMax` beside those that have parked receipts already. Calls of several
   * transactions at once do not count each other's.
   */
  park(
    receipts: readonly IdentifiedReceipt[],
    limits: { readonly expiresAt: number; readonly idsMax: number },
  ): Promise<readonly (AttemptRef | 'parked' | 'dropped')[]>;
  /** Removes up to `limit` ids that are expired at `now`, parked receipts included, and returns how many. */
  sweep(now: number, limit: number): Promise<number>;
}
