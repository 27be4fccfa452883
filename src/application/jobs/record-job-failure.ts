import type { LeasedJob } from '../../domain/jobs/job.ts';
import { providerText } from '../../domain/shared/provider-text.ts';
import { messageOf } from '../errors/error-text.ts';
import { isStorageFailure } from '../errors/storage-failure.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { loggedJobId } from './webhook-jobs.ts';

/** A job that failed this often, each time by itself, is dead-lettered. Leases that merely ran out do not count. */
export const JOB_FAILURES_MAX = 5;

/** A job that failed is due again after this time. */
export const FAILED_JOB_RETRY_MS = 30_000;

interface RecordPorts {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Logs and counts the failures of jobs. */
export class RecordJobFailure {
  readonly #ports: RecordPorts;

  constructor(ports: RecordPorts) {
    this.#ports = ports;
  }

  /**
   * A job failed by itself: it is due again later, or dead-lettered. Without a database, or when another keeps a row
   * locked, no job is to blame: it stays leased, and comes again when the lease ends. Never rejects.
   */
  async execute(job: LeasedJob, error: unknown): Promise<void> {
    this.log([job], error);
    if (isStorageFailure(error)) return;
    await this.#record(job, error).catch((own: unknown) => this.log([job], own));
  }

  /** One line for each job. */
  log(jobs: readonly LeasedJob[], error: unknown): void {
    for (const job of jobs) {
      this.#ports.logger.error('job_failed', error, {
        jobId: loggedJobId(job.id),
        kind: job.work.kind,
        fencingToken: job.fencingToken,
      });
    }
  }

  async #record(job: LeasedJob, error: unknown): Promise<void> {
    const { unitOfWork, clock, logger } = this.#ports;
    const at = clock.now();
    // As every database stores it: an error may quote what others sent.
    const reason = providerText(messageOf(error));
    const failure = { reason, at, retryAt: at + FAILED_JOB_RETRY_MS, failuresMax: JOB_FAILURES_MAX };
    const deadLettered = await unitOfWork.run((stores) => stores.jobs.fail([job], failure));
    logDeadLettered(logger, deadLettered);
  }
}

/** One line for each job. */
export function logDeadLettered(logger: Logger, jobs: readonly LeasedJob[]): void {
  for (const { id, work } of jobs) {
    logger.warn('job_dead_lettered', { jobId: loggedJobId(id), kind: work.kind });
  }
}
