import type { LeasedJob } from '../../domain/jobs/job.ts';
import { REPEATS_END_MS } from '../batching/batch-runner.ts';
import { runByHalves } from '../batching/by-halves.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { isJobKind, type JobRunners } from './job-kinds.ts';
import type { RecordJobFailure } from './record-job-failure.ts';

interface RunPorts extends JobRunners {
  readonly recordJobFailure: RecordJobFailure;
  readonly clock: Clock;
  readonly wakeSignal: WakeSignal;
}

/**
 * Does leased jobs. Only the holder of the newest lease removes a job: one that the queue delivers twice, or a slow worker
 * finishes late, has no second effect. What the job of a message changes and its removal are one transaction; a webhook is
 * sent first and recorded after.
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
    try {
      await this.#runJobsOf(kind, jobs);
    } catch (failure) {
      await this.#runAgain(kind, jobs, failure);
    }
  }

  async #runJobsOf(kind: string, jobs: readonly LeasedJob[]): Promise<void> {
    if (!isJobKind(kind)) throw new Error(`There is no kind of job named ${kind}`);
    const runner: { execute(jobs: readonly LeasedJob[]): Promise<void> } = this.#ports[kind];
    await runner.execute(jobs);
  }

  /** Without a database no job is to blame, and none is counted as failed. */
  async #runAgain(kind: string, jobs: readonly LeasedJob[], failure: unknown): Promise<void> {
    const { clock, recordJobFailure } = this.#ports;
    // From here on, since a batch that takes long to fail has a job to blame too.
    const end = clock.now() + REPEATS_END_MS;
    const isOver = (): boolean => clock.now() > end;
    if (!(failure instanceof StorageUnavailable)) return this.#runEachAlone(kind, jobs, failure, isOver);
    const undone = await runByHalves(jobs, {
      isOver,
      run: (half) => this.#runJobsOf(kind, half),
      runEach: (half, error) => this.#runEachAlone(kind, half, error, isOver),
    });
    for (const { items, error } of undone) recordJobFailure.log(items, error);
  }

  async #runEachAlone(
    kind: string,
    jobs: readonly LeasedJob[],
    failure: unknown,
    isOver: () => boolean,
  ): Promise<void> {
    for (const [index, job] of jobs.entries()) {
      if (isOver()) return this.#ports.recordJobFailure.log(jobs.slice(index), failure);
      await this.#runAlone(kind, job);
    }
  }

  /** Only a job that failed by itself counts as failed: what fails in a batch may be another's fault. */
  async #runAlone(kind: string, job: LeasedJob): Promise<void> {
    try {
      await this.#runJobsOf(kind, [job]);
    } catch (error) {
      await this.#ports.recordJobFailure.execute(job, error);
    }
  }
}
