import type { Job, LeasedJob, Work } from '../jobs.ts';

export interface JobStore {
  /** Adds jobs. One whose id exists gets the new due time, and a lease on it is void. */
  add(jobs: readonly Job[]): Promise<void>;
  /**
   * Adds jobs. One whose id exists is due at the earlier of both instants; while somebody holds it, it stays as it is.
   */
  scheduleNoLaterThan(jobs: readonly Job[]): Promise<void>;
  /**
   * Leases up to `limit` jobs that are due at `now`, the longest due first: nobody else is given them before
   * `until`, when they are due again. Concurrent callers get different jobs.
   */
  lease(request: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly LeasedJob[]>;
  /** Removes the jobs that are still held under their fencing token, and returns those, in the given order. */
  complete(jobs: readonly LeasedJob[]): Promise<readonly LeasedJob[]>;
  /**
   * Those of the jobs that are held under their fencing token, until `until` at least when it is given, in the given order;
   * without a lock.
   */
  stillLeased<Held extends LeasedJob>(jobs: readonly Held[], until?: number): Promise<readonly Held[]>;
  /** Those of the jobs that are held under their fencing token, in the given order; locked until the transaction ends. */
  lockLeased<Held extends LeasedJob>(jobs: readonly Held[]): Promise<readonly Held[]>;
  /** Holds on to the jobs that are still held under their fencing token until `until`, and returns those. */
  renew<Held extends LeasedJob>(jobs: readonly Held[], until: number): Promise<readonly Held[]>;
  /** Removes jobs whatever their lease; ids that do not exist are fine. */
  remove(ids: readonly string[]): Promise<void>;
  /**
   * Notes that jobs still held under their fencing token failed: they are due again at `retryAt`, or set aside for an
   * operator when they failed `failuresMax` times. Returns those that were set aside.
   */
  fail(
    jobs: readonly LeasedJob[],
    failure: {
      readonly reason: string;
      readonly at: number;
      readonly retryAt: number;
      readonly failuresMax: number;
    },
  ): Promise<readonly LeasedJob[]>;
  /** Makes every job that was set aside due at `now`, and says how many. */
  redrive(now: number): Promise<number>;
  /** The jobs that were set aside, the latest first, at most `limit`. */
  deadLettered(limit: number): Promise<readonly DeadLetterJob[]>;
  /** The job that is due next, or null when there is none. */
  nextDue(): Promise<Pick<Job, 'id' | 'dueAt'> | null>;
  /** How many jobs were set aside. */
  countDeadLettered(): Promise<number>;
}

/** A job that was set aside, and why. */
export interface DeadLetterJob {
  readonly id: string;
  readonly work: Work;
  readonly reason: string;
  readonly deadLetteredAt: number;
}
