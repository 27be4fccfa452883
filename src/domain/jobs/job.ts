import type { JobPriority } from './job-priority.ts';

/** What is to be done. It carries ids, never object graphs; `JOB_KINDS` says what belongs to each kind. */
export interface Work {
  readonly kind: string;
}

/** What stands in place of the project in a job that belongs to none. No project has such an id. */
export const INSTALLATION = 'installation';

/** A row of work: done once, at `dueAt` or soon after (milliseconds since 1970). */
export interface Job<Kind extends Work = Work> {
  readonly id: string;
  /** The project in whose share of a lease the job counts. */
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

/** This process had the lease at the instant `at`. It has it until the instant `until`, unless another worker takes over. */
export interface ConfirmedLease {
  readonly at: number;
  readonly until: number;
}

/** After this time, in milliseconds, a leased job is due again if it was neither completed nor renewed. */
export const LEASE_MS = 15_000;

/**
 * How often the leases of long work are renewed, in milliseconds, such as delivery attempts to slow receivers. When a process
 * dies, another one hands its jobs back (`WorkerHeartbeat`), or they are due again when their leases end.
 */
export const RENEW_EVERY_MS = 4_000;

/** The time that a lease must have left when work begins under it, in milliseconds: enough to renew it. */
export const LEASE_LEFT_MS = 6_000;
