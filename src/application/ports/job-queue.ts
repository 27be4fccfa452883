import type { LeasedJob } from '../../domain/jobs/job.ts';

/**
 * Does a batch of jobs. Resolves when each is done, handed on, or left leased because nothing could be stored: then it is due
 * again when its lease ends. `RunJobs` never rejects.
 */
export type JobHandler = (jobs: readonly LeasedJob[]) => Promise<void>;

/**
 * Carries leased jobs from the relay to the consumers, in any process. It may deliver a job more than once and in any
 * order. Only a crash, of a process or of the broker, may lose a job. It is due again when its lease ends, or when `RelayJobs`
 * hands it back.
 */
export interface JobQueue {
  /** Resolves once the queue itself holds every job; rejects when it cannot tell, and as `QueueBlocked` when it takes none. */
  publish(jobs: readonly LeasedJob[]): Promise<void>;
  /**
   * Hands over jobs in batches of one kind; no kind waits for a batch of another. A batch is acknowledged only after the
   * handler resolved. The jobs of a rejected batch are due again when their leases end. Called once per process.
   */
  consume(handler: JobHandler): Promise<void>;
  /** How many more jobs may be published now, 0 when consumers are behind or the queue is unavailable. Never rejects. */
  availableCapacity(): Promise<number>;
  /** Resolves when every job that was handed to this process is done. */
  idle(): Promise<void>;
  /** Takes no further jobs, finishes those in hand, closes the connection. May be called twice. */
  close(): Promise<void>;
  /** Why the queue cannot carry jobs at the moment, or null when it can. */
  unavailableReason(): string | null;
}
