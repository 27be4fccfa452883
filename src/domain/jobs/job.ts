import type { JobPriority } from './job-priority.ts';

/** What is to be done. It carries ids, never object graphs; `JOB_KINDS` says what belongs to each kind. */
export interface Work {
  readonly kind: string;
}

/** In place of the project of a job that belongs to none. No project has such an id. */
export const INSTALLATION = 'installation';

/** A row of work: done once, at `dueAt` or soon after (milliseconds since 1970). */
export interface Job<Kind extends Work = Work> {
  readonly id: string;
  /** Whose share of a lease it belongs to. */
  readonly projectId: string;
  readonly priority: JobPriority;
  readonly dueAt: number;
  readonly work: Kind;
}

/**
 * A job that one worker holds. `fencingToken` rises with every lease, and when the job is added again: only the holder
 * of the newest token may complete it, so a late worker changes nothing.
 */
export interface LeasedJob<Kind extends Work = Work> {
  readonly id: string;
  readonly fencingToken: number;
  readonly work: Kind;
}

/** The job was this process's at one instant, and is until the other unless another worker takes over. */
export interface ConfirmedLease {
  readonly at: number;
  readonly until: number;
}

/** A leased job that was neither completed nor renewed becomes due again after this time. */
export const LEASE_MS = 15_000;

/**
 * How often the leases of long work are renewed, such as delivery attempts to slow receivers. What a process that dies had
 * leased is handed back by another one (`WorkerHeartbeat`), or is due again when the lease ends.
 */
export const RENEW_EVERY_MS = 4_000;

/** Nothing begins under a lease that ends sooner than this: there is time left to renew it. */
export const LEASE_LEFT_MS = 6_000;
