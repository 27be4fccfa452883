import type { LeasedJob } from '../jobs/job.ts';

/** Does a batch of jobs. Resolves when their effects are committed; a rejection means they were not. */
export type JobHandler = (jobs: readonly LeasedJob[]) => Promise<void>;

/**
 * Carries leased jobs from the relay to the consumers, in any process. It may deliver a job more than once and
 * in any order; it may lose one only by crashing, and then the lease runs out and the job comes again.
 */
export interface JobQueue {
  /** Resolves once the queue itself holds every job; rejects when it cannot tell. */
  publish(jobs: readonly LeasedJob[]): Promise<void>;
  /**
   * Hands over jobs in batches, each acknowledged only after the handler resolved. A rejected batch is given
   * up: the jobs' leases bring them back. Called once per process, before anything is published.
   */
  consume(handler: JobHandler): Promise<void>;
  /** How many more jobs may be published now, 0 when consumers are behind or the queue is away. Never rejects. */
  availableCapacity(): Promise<number>;
  /** Resolves when every job this process was handed is done. */
  idle(): Promise<void>;
  /** Takes no further jobs, finishes those at hand, lets go of the connection. May be called twice. */
  close(): Promise<void>;
  /** Why the queue cannot carry jobs at the moment, or null when it can. */
  unavailableReason(): string | null;
}
