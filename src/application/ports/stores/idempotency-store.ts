import type { IdempotencyRecord } from '../../../domain/idempotency/idempotency.ts';

export interface IdempotencyStore {
  /** The records of the keys that have not expired at `now`. */
  find(
    keys: readonly { readonly projectId: string; readonly route: string; readonly key: string }[],
    now: number,
  ): Promise<readonly IdempotencyRecord[]>;
  /** Saves records; an expired one of the same key is replaced. */
  save(records: readonly IdempotencyRecord[]): Promise<void>;
  /** Removes up to `limit` expired records, and says how many. */
  sweep(now: number, limit: number): Promise<number>;
}
