import { REPEATS_END_MS } from '../batcher.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { StorageUnavailable } from '../storage-unavailable.ts';
import type { LeasedJob } from './job.ts';
import { type JobUseCases, runJobsOf } from './job-kinds.ts';

/** A job that failed this often, each time by itself, is dead-lettered. Leases that merely ran out do not count. */
export const JOB_FAILURES_MAX = 5;

/** A job that failed is due again after this time. */
export const FAILED_JOB_RETRY_MS = 30_000;

interface RunPorts extends JobUseCases {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
}

/**
 * Does leased jobs. Only the holder of the newest lease removes a job: one that the queue delivers twice, or a slow worker
 * finishes late, has no second effect. What the job of a message changes and its removal are one transaction; a webhook is
 * posted first and recorded after.
 */
export class RunJobs {
  readonly #ports: RunPorts;

  constructor(ports: RunPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when every job is done, dead-lettered or handed on; never rejects. Calls to channels and receivers go on
   * in the background. A job that fails is due again later; without a database it stays leased, and comes again then.
   */
  async execute(jobs: readonly LeasedJob[]): Promise<void> {
    const kinds = new Set(jobs.map(({ work }) => work.kind));
    await Promise.all(
      [...kinds].map((kind) =>
        this.#runKind(
          kind,
          jobs.filter(({ work }) => work.kind === kind),
        ),
      ),
    );
    this.#ports.wakeSignal.wake();
  }

  /** A job that cannot be done must not keep its batch from being done. */
  async #runKind(kind: string, jobs: readonly LeasedJob[]): Promise<void> {
    const { clock } = this.#ports;
    const end = clock.now() + REPEATS_END_MS;
    try {
      await runJobsOf(kind, this.#ports, jobs);
    } catch (error) {
      // Without a database no job is to blame, and none is counted as failed.
      if (error instanceof StorageUnavailable) return this.#logFailure(jobs, error);
      for (const [index, job] of jobs.entries()) {
        if (clock.now() > end) return this.#logFailure(jobs.slice(index), error);
        await this.#runAlone(kind, job);
      }
    }
  }

  async #runAlone(kind: string, job: LeasedJob): Promise<void> {
    try {
      await runJobsOf(kind, this.#ports, [job]);
    } catch (error) {
      if (error instanceof StorageUnavailable) return this.#logFailure([job], error);
      await this.#recordFailure(job, error).catch((own: unknown) => this.#logFailure([job], own));
    }
  }

  /** Only a job that failed by itself counts as failed: what fails in a batch may be another's fault. */
  async #recordFailure(job: LeasedJob, error: unknown): Promise<void> {
    const { unitOfWork, clock, logger } = this.#ports;
    this.#logFailure([job], error);
    const at = clock.now();
    const reason = error instanceof Error ? error.message : String(error);
    const failure = { reason, at, retryAt: at + FAILED_JOB_RETRY_MS, failuresMax: JOB_FAILURES_MAX };
    const deadLettered = await unitOfWork.run((stores) => stores.jobs.fail([job], failure));
    for (const { id, work } of deadLettered) logger.warn('job_dead_lettered', { jobId: id, kind: work.kind });
  }

  #logFailure(jobs: readonly LeasedJob[], error: unknown): void {
    for (const job of jobs) {
      this.#ports.logger.error('job_failed', error, {
        jobId: job.id,
        kind: job.work.kind,
        fencingToken: job.fencingToken,
      });
    }
  }
}
