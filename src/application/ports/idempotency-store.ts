/** What an Idempotency-Key was first answered with; unique per project, route and key. */
export interface IdempotencyRecord {
  readonly projectId: string;
  readonly route: string;
  readonly key: string;
  readonly requestHash: string;
  /** The result as the use case gave it, as JSON. */
  readonly result: string;
  readonly expiresAt: number;
}

export interface IdempotencyStore {
  /** The records that are not expired at `now`. */
  find(
    keys: readonly { readonly projectId: string; readonly route: string; readonly key: string }[],
    now: number,
  ): Promise<readonly IdempotencyRecord[]>;
  /** Saves records; an expired one of the same key is replaced. */
  save(records: readonly IdempotencyRecord[]): Promise<void>;
  /** Removes up to `limit` expired records, and says how many. */
  sweep(now: number, limit: number): Promise<number>;
}
