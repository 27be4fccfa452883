import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { LastServed } from '../ports/job-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { LEASE_MS, type LeasedJob } from './job.ts';
import { parseWork } from './job-kinds.ts';

/** Jobs leased at once: enough to fill the consumers' batches, few enough to be done well within a lease. */
export const LEASED_JOBS_MAX = 500;

interface RelayPorts {
  readonly unitOfWork: UnitOfWork;
  readonly jobQueue: JobQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
}

/** Moves due jobs from the store to the queue. A job that the queue does not take is due again when its lease ends. */
export class RelayJobs {
  readonly #ports: RelayPorts;
  readonly #lastServed: LastServed = new Map();

  constructor(ports: RelayPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves with the number of jobs that were leased; 0 when nothing is due or the queue is full. A job whose kind
   * this version does not know is dead-lettered.
   */
  async execute(): Promise<number> {
    const { unitOfWork, jobQueue, clock, workerId } = this.#ports;
    const limit = Math.min(LEASED_JOBS_MAX, await jobQueue.availableCapacity());
    if (limit <= 0) return 0;
    const now = clock.now();
    const { leased, deadLettered } = await unitOfWork.run(async (stores) => {
      const jobs = await stores.jobs.lease({
        now,
        until: now + LEASE_MS,
        limit,
        lastServed: this.#lastServed,
        workerId,
      });
      return { leased: jobs, deadLettered: await deadLetterUnknown(stores, jobs, now) };
    }, 'eventual');
    for (const { id, work } of deadLettered) {
      this.#ports.logger.warn('job_dead_lettered', { jobId: id, kind: work.kind });
    }
    const known = leased.filter((job) => !deadLettered.includes(job));
    if (known.length > 0) await jobQueue.publish(known);
    return leased.length;
  }
}

/** Returns the jobs that were dead-lettered. */
async function deadLetterUnknown(
  stores: Stores,
  jobs: readonly LeasedJob[],
  now: number,
): Promise<readonly LeasedJob[]> {
  const unknown = jobs.filter(({ work }) => parseWork(work) === null);
  if (unknown.length === 0) return [];
  const reason = 'This version does not know such work';
  return stores.jobs.fail(unknown, { reason, at: now, retryAt: now, failuresMax: 1 });
}
