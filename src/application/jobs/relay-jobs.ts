import { LEASE_MS, type LeasedJob } from '../../domain/jobs/job.ts';
import { QueueBlocked } from '../errors/queue-blocked.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/logger.ts';
import type { LastServed } from '../ports/stores/job-store.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { parseWork } from './job-kinds.ts';
import { logDeadLettered } from './record-job-failure.ts';

/** Jobs leased at once: enough to fill the consumers' batches, few enough to be done well within a lease. */
export const LEASED_JOBS_MAX = 250;

interface RelayPorts {
  readonly unitOfWork: UnitOfWork;
  readonly jobQueue: JobQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
}

/**
 * Moves due jobs from the store to the queue. A job that the queue does not take is due again when its lease ends. After an
 * outage of the queue or the database, the jobs of messages that this worker had leased are due again, once the queue has
 * capacity: at once for a queue that goes on in the process. A job that was not lost is published twice then, and the fencing
 * token lets it be done once. Other jobs wait until their leases end: what they do may go on in the background. Jobs of every
 * kind that a blocked queue did not take are due at once.
 */
export class RelayJobs {
  readonly #ports: RelayPorts;
  readonly #lastServed: LastServed = new Map();
  #mayHaveLostJobs = false;
  #wasAvailable = true;

  constructor(ports: RelayPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves with the number of jobs that were leased; 0 when nothing is due or the queue is full. A job whose kind
   * this version does not know is dead-lettered.
   */
  async execute(): Promise<number> {
    try {
      return await this.#relay();
    } catch (error) {
      if (error instanceof StorageUnavailable) this.#mayHaveLostJobs = true;
      throw error;
    }
  }

  async #relay(): Promise<number> {
    const { unitOfWork, jobQueue, clock, workerId } = this.#ports;
    const limit = Math.min(LEASED_JOBS_MAX, await jobQueue.availableCapacity());
    const isAvailable = jobQueue.unavailableReason() === null;
    if (!isAvailable && this.#wasAvailable) this.#mayHaveLostJobs = true;
    this.#wasAvailable = isAvailable;
    if (limit <= 0) return 0;
    const now = clock.now();
    if (this.#mayHaveLostJobs) await this.#handBackLost(now);
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
    logDeadLettered(this.#ports.logger, deadLettered);
    const known = leased.filter((job) => !deadLettered.includes(job));
    if (known.length > 0) await this.#publish(known);
    return leased.length;
  }

  async #publish(jobs: readonly LeasedJob[]): Promise<void> {
    try {
      await this.#ports.jobQueue.publish(jobs);
    } catch (error) {
      this.#mayHaveLostJobs = true;
      if (error instanceof QueueBlocked) await this.#handBackUnpublished(jobs);
      throw error;
    }
  }

  /** Nobody does these jobs: they are due at once. */
  async #handBackUnpublished(jobs: readonly LeasedJob[]): Promise<void> {
    const { unitOfWork, clock, workerId } = this.#ports;
    await unitOfWork.run((stores) => stores.jobs.renew(jobs, clock.now(), workerId), 'eventual');
  }

  async #handBackLost(now: number): Promise<void> {
    const { unitOfWork, logger, workerId } = this.#ports;
    const leased = { workerIds: [workerId], now, until: now + LEASE_MS, ofMessages: true };
    const jobs = await unitOfWork.run((stores) => stores.jobs.handBack(leased), 'eventual');
    this.#mayHaveLostJobs = false;
    if (jobs > 0) logger.warn('jobs_handed_back', { jobs });
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
