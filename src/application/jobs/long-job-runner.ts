import type { LeasedJob, Work } from '../../domain/jobs/job.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { isHeld, keepLease, type LeasePorts } from './keep-lease.ts';
import type { RecordJobFailure } from './record-job-failure.ts';

export interface LongJobPorts extends LeasePorts {
  readonly recordJobFailure: RecordJobFailure;
  readonly background: BackgroundWork;
}

/** Jobs that take longer than a lease: their work goes on in the background, and their leases are renewed meanwhile. */
export class LongJobRunner {
  readonly #ports: LongJobPorts;
  /** By job and lease: the broker may hand over a job again. */
  readonly #running = new Map<string, AbortController>();

  constructor(ports: LongJobPorts) {
    this.#ports = ports;
    ports.background.whenStopping(() => {
      for (const running of this.#running.values()) running.abort();
    });
  }

  /**
   * Returns at once. Nothing is done for a job that runs already under the same lease, or of which the row has another fencing
   * token: its work takes long, and anybody at the broker can make a message of it. The signal of a job is aborted when the
   * process stops, or when another one has the job: then the work ends soon, and leaves the job as it is. What fails before that
   * is recorded. `ended` is called for every job, run or not.
   */
  begin<Kind extends Work>(
    jobs: readonly LeasedJob<Kind>[],
    work: (job: LeasedJob<Kind>, signal: AbortSignal) => Promise<void>,
    ended: (job: LeasedJob<Kind>) => void = () => {},
  ): void {
    for (const job of jobs) {
      this.#ports.background.start(() =>
        this.#runOnce(job, (signal) => work(job, signal)).finally(() => ended(job)),
      );
    }
  }

  async #runOnce(job: LeasedJob, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const lease = `${job.fencingToken} ${job.id}`;
    if (this.#ports.background.isStopping || this.#running.has(lease)) return;
    const running = new AbortController();
    this.#running.set(lease, running);
    try {
      if (await isHeld(this.#ports.renewLeases, job)) await this.#run(job, running, work);
    } finally {
      this.#running.delete(lease);
    }
  }

  async #run(
    job: LeasedJob,
    running: AbortController,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stopRenewing = keepLease(this.#ports, job, () => running.abort());
    try {
      await work(running.signal);
    } catch (error) {
      if (!running.signal.aborted) await this.#ports.recordJobFailure.execute(job, error);
    } finally {
      stopRenewing();
    }
  }
}
