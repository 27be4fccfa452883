import type { Job, LeasedJob } from '../../../domain/jobs/job.ts';
import type { JobPriority } from '../../../domain/jobs/job-priority.ts';

/** The project that was served last, by priority: the next lease begins behind it. */
export type LastServed = Map<JobPriority, string>;

/**
 * The jobs of all processes. A job is leased under a fencing token; only the holder of the newest token can complete,
 * renew or fail it. Instants are milliseconds since 1970.
 */
export interface JobStore {
  /**
   * Adds jobs. One whose id exists gets the new due time, and a lease on it is void. Jobs that are due at `now` are
   * available to the next lease; the others become available when they come due, the oldest first.
   */
  add(jobs: readonly Job[], now: number): Promise<void>;
  /**
   * Adds jobs. One whose id exists is due at the earlier of both instants; while it is leased it stays as it is. They become
   * available as in `add`.
   */
  scheduleNoLaterThan(jobs: readonly Job[], now: number): Promise<void>;
  /**
   * Leases up to `limit` jobs that are due at `now`: by priority, within a priority round-robin over projects by their weights,
   * and of a project the longest due first; `firstLeaseRound` has the rule. Nobody else gets them before `until`, when they are
   * due again. Concurrent callers get different jobs. Work that `parseWork` rejects comes with its kind only. `lastServed`
   * is moved on: a caller that keeps it serves every project however many there are.
   */
  lease(request: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
    readonly lastServed?: LastServed;
    /** Who leases: `handBack` finds the lease by it. */
    readonly workerId: string;
  }): Promise<readonly LeasedJob[]>;
  /** Removes the jobs whose token is still the newest, and returns those, in the given order. */
  complete(jobs: readonly LeasedJob[]): Promise<readonly LeasedJob[]>;
  /**
   * The jobs whose token is still the newest, and whose lease lasts until `until` when it is given, in the given order;
   * without a lock.
   */
  stillLeased<Held extends LeasedJob>(jobs: readonly Held[], until?: number): Promise<readonly Held[]>;
  /** The jobs whose token is still the newest, in the given order, locked until the transaction ends. */
  lockLeased<Held extends LeasedJob>(jobs: readonly Held[]): Promise<readonly Held[]>;
  /**
   * Moves the end of the leases to `until` where the token is still the newest, and returns those jobs. The lease is that
   * worker's from then on: the queue may have handed the job to another worker than the one that leased it.
   */
  renew<Held extends LeasedJob>(
    jobs: readonly Held[],
    until: number,
    workerId: string,
  ): Promise<readonly Held[]>;
  /**
   * Makes the jobs that those workers have leased due at `now`, and returns how many: for workers that are gone, and for jobs
   * that a queue may have lost. Leases that end after `until` stay, so that the cost does not grow with the jobs that are
   * scheduled for later. A worker that comes back may complete or renew such a job as long as nobody leased it anew. With
   * `ofMessages` only the jobs of messages: others are kept in the background with renewed leases.
   */
  handBack(request: {
    readonly workerIds: readonly string[];
    readonly now: number;
    readonly until: number;
    readonly ofMessages?: boolean;
  }): Promise<number>;
  /** Removes jobs whatever their lease; ids that do not exist are fine. */
  remove(ids: readonly string[]): Promise<void>;
  /**
   * Counts a failure of each job whose token is still the newest. It is due again at `retryAt`; one that failed
   * `failuresMax` times is dead-lettered at `at`. Returns the dead-lettered jobs.
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
  /**
   * The job of these priorities, or of all, that is due next; null when there is none. Costs a search for each project with
   * available jobs of those priorities.
   */
  nextDue(priorities?: readonly JobPriority[]): Promise<JobPlace | null>;
  /**
   * The place of the job that comes `count` jobs behind `after` among the available ones of a project at a priority, the
   * longest due first; null when there are fewer. Without `after` it counts from the first. Costs as much as `count` is.
   */
  skipAvailable(request: {
    readonly projectId: string;
    readonly priority: JobPriority;
    readonly after: JobPlace | null;
    readonly count: number;
  }): Promise<JobPlace | null>;
}

/** A place in the order of due jobs. */
export interface JobPlace {
  readonly dueAt: number;
  readonly id: string;
}
