import type { LeasedJob, Work } from '../../domain/jobs/job.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { keepLease, type LeasePorts } from './keep-lease.ts';
import type { RecordJobFailure } from './record-job-failure.ts';

export interface LongJobPorts extends LeasePorts {
  readonly recordJobFailure: RecordJobFailure;
  readonly background: BackgroundWork;
}

/** Jobs that take longer than a lease: their work goes on in the background, and their leases are renewed meanwhile. */
export class LongJobRunner {
  readonly #ports: LongJobPorts;
  readonly #running = new Set<AbortController>();

  constructor(ports: LongJobPorts) {
    this.#ports = ports;
    ports.background.whenStopping(() => {
      for (const running of this.#running) running.abort();
    });
  }

  /**
   * Returns at once. The signal of a job is aborted when the process stops, or when another one has the job: then the work ends
   * soon, and leaves the job as it is. What fails before that is recorded.
   */
  begin<Kind extends Work>(
    jobs: readonly LeasedJob<Kind>[],
    work: (job: LeasedJob<Kind>, signal: AbortSignal) => Promise<void>,
  ): void {
    for (const job of jobs) this.#ports.background.start(() => this.#run(job, (signal) => work(job, signal)));
  }

  async #run(job: LeasedJob, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#ports.background.isStopping) return;
    const running = new AbortController();
    this.#running.add(running);
    const stopRenewing = keepLease(this.#ports, job, () => running.abort());
    try {
      await work(running.signal);
    } catch (error) {
      if (!running.signal.aborted) await this.#ports.recordJobFailure.execute(job, error);
    } finally {
      stopRenewing();
      this.#running.delete(running);
    }
  }
}
