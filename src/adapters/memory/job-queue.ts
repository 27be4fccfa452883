import { BatchDrain } from '../../application/batching/batch-drain.ts';
import type { JobHandler, JobQueue } from '../../application/ports/job-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';

/** Jobs that may wait: a few batches keep a consumer busy. More would wait in the order of their leases, not in rotation. */
export const MEMORY_QUEUE_JOBS_MAX = 1_000;

/** Jobs in one batch. Its transaction on SQLite holds the event loop for some 8 ms. */
const MEMORY_BATCH_JOBS_MAX = 250;

export interface MemoryJobQueueOptions {
  readonly logger: Logger;
  /** Jobs that may wait before `availableCapacity` is 0. */
  readonly capacity?: number;
  /** Jobs handed over at once. */
  readonly batchMax?: number;
}

/** The queue of a single process. A crash loses the jobs that wait: their leases bring them back. */
export class MemoryJobQueue implements JobQueue {
  readonly #logger: Logger;
  readonly #capacity: number;
  readonly #batchMax: number;
  /** Jobs published before there was a consumer. */
  #early: LeasedJob[] = [];
  #drain: BatchDrain<LeasedJob> | null = null;
  #closed = false;

  constructor(options: MemoryJobQueueOptions) {
    this.#logger = options.logger;
    this.#capacity = options.capacity ?? MEMORY_QUEUE_JOBS_MAX;
    this.#batchMax = options.batchMax ?? MEMORY_BATCH_JOBS_MAX;
  }

  async publish(jobs: readonly LeasedJob[]): Promise<void> {
    if (this.#closed) throw new Error('The job queue is closed');
    const drain = this.#drain;
    if (drain === null) this.#early.push(...jobs);
    else for (const job of jobs) drain.push(job);
  }

  async consume(handler: JobHandler): Promise<void> {
    if (this.#drain !== null) throw new Error('The job queue has a consumer already');
    this.#drain = new BatchDrain({
      batchMax: this.#batchMax,
      groupOf: ({ work }) => work.kind,
      handle: (batch) => this.#handle(handler, batch),
    });
    const early = this.#early;
    this.#early = [];
    await this.publish(early);
  }

  async availableCapacity(): Promise<number> {
    if (this.#closed) return 0;
    return Math.max(0, this.#capacity - this.#early.length - (this.#drain?.waiting ?? 0));
  }

  async idle(): Promise<void> {
    await this.#drain?.idle();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
  }

  unavailableReason(): string | null {
    return this.#closed ? 'closed' : null;
  }

  async #handle(handler: JobHandler, batch: readonly LeasedJob[]): Promise<void> {
    try {
      await handler(batch);
    } catch (error) {
      this.#logger.error('queue_batch_failed', error, { jobs: batch.length });
    }
  }
}
