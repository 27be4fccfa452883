import { setImmediate } from 'node:timers';
import type { LeasedJob } from '../../application/jobs.ts';
import type { JobHandler, JobQueue } from '../../application/ports/job-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';

/** Jobs that may wait; enough to keep a consumer busy, little enough that their leases do not run out. */
export const MEMORY_QUEUE_JOBS_MAX = 10_000;

/** Jobs in one batch: one transaction's worth. */
export const MEMORY_BATCH_JOBS_MAX = 500;

export interface MemoryJobQueueOptions {
  readonly logger: Logger;
  /** Jobs that may wait before `room()` is 0. */
  readonly capacity?: number;
  /** Jobs handed over at once. */
  readonly batchMax?: number;
}

/**
 * The queue of a single process. One batch is handled at a time; what arrives meanwhile fills the next, so an
 * idle queue hands over at once and a busy one hands over much. A crash loses what waits: the leases bring it back.
 */
export class MemoryJobQueue implements JobQueue {
  readonly #logger: Logger;
  readonly #capacity: number;
  readonly #batchMax: number;
  readonly #waiting: LeasedJob[] = [];
  #idleWaiters: (() => void)[] = [];
  #handler: JobHandler | null = null;
  #running = false;
  #scheduled = false;
  #closed = false;

  constructor(options: MemoryJobQueueOptions) {
    this.#logger = options.logger;
    this.#capacity = options.capacity ?? MEMORY_QUEUE_JOBS_MAX;
    this.#batchMax = options.batchMax ?? MEMORY_BATCH_JOBS_MAX;
  }

  async publish(jobs: readonly LeasedJob[]): Promise<void> {
    if (this.#closed) throw new Error('The job queue is closed');
    for (const job of jobs) this.#waiting.push(job);
    this.#schedule();
  }

  async consume(handler: JobHandler): Promise<void> {
    if (this.#handler !== null) throw new Error('The job queue has a consumer already');
    this.#handler = handler;
    this.#schedule();
  }

  async availableCapacity(): Promise<number> {
    return this.#closed ? 0 : Math.max(0, this.#capacity - this.#waiting.length);
  }

  async idle(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  async close(): Promise<void> {
    this.#closed = true;
    // What waits is leased: dropped, it would lie there until its lease runs out.
    if (this.#handler === null) this.#waiting.length = 0;
    await this.idle();
  }

  unavailableReason(): string | null {
    return this.#closed ? 'closed' : null;
  }

  /** Waits for the end of the current turn, so that everything published in it makes one batch. */
  #schedule(): void {
    if (this.#handler === null || this.#running || this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    const handler = this.#handler;
    if (handler === null) return;
    this.#running = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#batchMax);
      try {
        await handler(batch);
      } catch (error) {
        this.#logger.error('queue_batch_failed', error, { jobs: batch.length });
      }
    }
    this.#running = false;
    this.#tellIdle();
  }

  #isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#running;
  }

  #tellIdle(): void {
    if (!this.#isIdle()) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
