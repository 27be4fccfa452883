import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { JobHandler, JobQueue } from '../ports/job-queue.ts';

interface FailoverQueues {
  readonly broker: JobQueue;
  /** Inside this process. */
  readonly local: JobQueue;
}

/**
 * The queue at a broker; while that is away, each process does the jobs that it leases itself. A job may then be at the broker
 * too: its fencing token lets it be done once. What waits in the process when the broker is back is still done there.
 */
export class FailoverJobQueue implements JobQueue {
  readonly broker: JobQueue;
  readonly #local: JobQueue;

  constructor({ broker, local }: FailoverQueues) {
    this.broker = broker;
    this.#local = local;
  }

  publish(jobs: readonly LeasedJob[]): Promise<void> {
    return this.#current().publish(jobs);
  }

  async consume(handler: JobHandler): Promise<void> {
    await Promise.all([this.broker.consume(handler), this.#local.consume(handler)]);
  }

  availableCapacity(): Promise<number> {
    return this.#current().availableCapacity();
  }

  async idle(): Promise<void> {
    await Promise.all([this.broker.idle(), this.#local.idle()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.broker.close(), this.#local.close()]);
  }

  /** Why the broker carries no jobs, though they are done. */
  unavailableReason(): string | null {
    return this.broker.unavailableReason();
  }

  #current(): JobQueue {
    return this.broker.unavailableReason() === null ? this.broker : this.#local;
  }
}
