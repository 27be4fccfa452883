/** The workers, and when each was last seen: which processes run jobs. Instants are milliseconds since 1970. */
export interface WorkerStore {
  /** Records that the worker was seen at `seenAt`, in place of the instant before. */
  markSeen(id: string, seenAt: number): Promise<void>;
  /** Removes a worker; one that is not there is no error. */
  remove(id: string): Promise<void>;
  /** How many workers were seen at `since` or later, and when the newest of all was seen; null when there is none. */
  seenSince(since: number): Promise<{ readonly count: number; readonly newestAt: number | null }>;
  /** When each worker was last seen, by its id. */
  all(): Promise<ReadonlyMap<string, number>>;
  /** Removes the workers last seen before `before`, and returns how many. */
  sweep(before: number): Promise<number>;
}
