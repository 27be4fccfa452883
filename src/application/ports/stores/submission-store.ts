import type { AttemptRef } from '../../../domain/chain/attempt-name.ts';
import type { Channel } from '../../../domain/shared/channel.ts';
import type { SubmissionReceipt } from '../provider-events.ts';

/** A provider's own id of a message, or of one part of it; unique within the channel. */
export interface ProviderMessageId {
  readonly channel: Channel;
  readonly providerMessageId: string;
}

/** A receipt that is parked, and the attempt that it names. */
export type ParkedReceipt = Pick<SubmissionReceipt, 'receipt' | 'attempt'>;

/** How many ids of one provider may have parked receipts, and how many are kept of too many. */
export interface ParkedIdLimits {
  readonly idsMax: number;
  readonly idsKept: number;
}

/**
 * Which attempt a provider message id belongs to. A receipt that comes before its id is recorded is parked under the id.
 * Recording and parking lock the id, so that of two transactions at once the later one sees the other.
 */
export interface SubmissionStore {
  /**
   * Records the ids until `expiresAt` (milliseconds since 1970), which is `SUBMISSION_LIFETIME_MS` from now, and returns the
   * receipts that were parked under them and are not expired, each once and with the attempt of its id. An id that is recorded
   * already belongs to the newer attempt from then on.
   */
  record(
    submissions: readonly (ProviderMessageId & AttemptRef)[],
    expiresAt: number,
  ): Promise<readonly (SubmissionReceipt & AttemptRef)[]>;
  /** The attempt of each id, in the given order, without a lock; null for an id that is not recorded. */
  find(ids: readonly ProviderMessageId[]): Promise<readonly (AttemptRef | null)[]>;
  /** What is parked under each id, in the given order, without a lock. */
  parkedUnder(ids: readonly ProviderMessageId[]): Promise<readonly (readonly ParkedReceipt[])[]>;
  /**
   * Parks receipts until `expiresAt`, which is `PARKED_RECEIPT_LIFETIME_MS` from now, with those parked under their ids before
   * that are not expired, one of each kind per id. Resolves with the attempt of each id that is recorded, in the given order;
   * null for a receipt that is parked.
   */
  park(receipts: readonly SubmissionReceipt[], expiresAt: number): Promise<readonly (AttemptRef | null)[]>;
  /**
   * Of a provider with parked receipts under more than `idsMax` ids, removes those that expire first, until `idsKept` are left.
   * Resolves with how many it removed, by provider. Waits for no lock. Several transactions at once do not count what the others
   * park, and remove the same ids.
   */
  removeOldestParked(
    providers: readonly string[],
    limits: ParkedIdLimits,
  ): Promise<ReadonlyMap<string, number>>;
  /** Removes up to `limit` ids that are expired at `now`, parked receipts included, and returns how many. */
  sweep(now: number, limit: number): Promise<number>;
}
