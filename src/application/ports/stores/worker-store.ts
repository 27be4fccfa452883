/** The workers, and when each was last seen: which processes run jobs. Instants are milliseconds since 1970. */
export interface WorkerStore {
  /** Records that the worker was seen at `seenAt`, in place of the instant before. */
  markSeen(id: string, seenAt: number): Promise<void>;
  /** Removes workers; one that is not there is no error. */
  remove(ids: readonly string[]): Promise<void>;
  /** How many workers were seen at `since` or later, and when the newest of all was seen; null when there is none. */
  seenSince(since: number): Promise<{ readonly count: number; readonly newestAt: number | null }>;
  /** When each worker was last seen, by its id. */
  all(): Promise<ReadonlyMap<string, number>>;
}
