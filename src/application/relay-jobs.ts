import { LEASE_MS } from './jobs.ts';
import type { Clock } from './ports/clock.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { UnitOfWork } from './ports/unit-of-work.ts';

/** Jobs leased at once: enough to fill the consumers' batches, few enough to be done well within a lease. */
export const LEASED_JOBS_MAX = 500;

/** Moves work that is due from the store to the queue. What the queue does not take comes due again. */
export class RelayJobs {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly jobQueue: JobQueue; readonly clock: Clock };

  constructor(ports: {
    readonly unitOfWork: UnitOfWork;
    readonly jobQueue: JobQueue;
    readonly clock: Clock;
  }) {
    this.#ports = ports;
  }

  /** Resolves with the number of jobs the queue now holds; 0 when nothing is due or the queue is full. */
  async execute(): Promise<number> {
    const { unitOfWork, jobQueue, clock } = this.#ports;
    const limit = Math.min(LEASED_JOBS_MAX, await jobQueue.availableCapacity());
    if (limit <= 0) return 0;
    const now = clock.now();
    const jobs = await unitOfWork.run(
      (stores) => stores.jobs.lease({ now, until: now + LEASE_MS, limit }),
      'eventual',
    );
    if (jobs.length > 0) await jobQueue.publish(jobs);
    return jobs.length;
  }
}
