import { REPEATS_END_MS } from '../concurrency/batcher.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { LeasedJob } from './job.ts';
import { type JobUseCases, runJobsOf } from './job-kinds.ts';
import type { RecordJobFailure } from './record-job-failure.ts';

interface RunPorts extends JobUseCases {
  readonly recordJobFailure: RecordJobFailure;
  readonly clock: Clock;
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
    const { clock, recordJobFailure } = this.#ports;
    const end = clock.now() + REPEATS_END_MS;
    try {
      await runJobsOf(kind, this.#ports, jobs);
    } catch (error) {
      // Without a database no job is to blame, and none is counted as failed.
      if (error instanceof StorageUnavailable) return recordJobFailure.log(jobs, error);
      for (const [index, job] of jobs.entries()) {
        if (clock.now() > end) return recordJobFailure.log(jobs.slice(index), error);
        await this.#runAlone(kind, job);
      }
    }
  }

  /** Only a job that failed by itself counts as failed: what fails in a batch may be another's fault. */
  async #runAlone(kind: string, job: LeasedJob): Promise<void> {
    try {
      await runJobsOf(kind, this.#ports, [job]);
    } catch (error) {
      await this.#ports.recordJobFailure.execute(job, error);
    }
  }
}
