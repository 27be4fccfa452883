import type { LeasedJob } from '../../domain/jobs/job.ts';
import { type LongJobPorts, LongJobRunner } from '../jobs/long-job-runner.ts';
import { RecurringJob } from '../jobs/recurring-job.ts';
import { type SyncWhatsappWork, syncWhatsappJob, WHATSAPP_SYNC_INTERVAL_MS } from '../jobs/whatsapp-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { SyncWhatsapp } from './sync-whatsapp.ts';
import type { WhatsappPlatforms } from './whatsapp-platforms.ts';

interface RunPorts extends LongJobPorts {
  readonly unitOfWork: UnitOfWork;
  readonly whatsappPlatforms: WhatsappPlatforms;
  readonly syncWhatsapp: SyncWhatsapp;
  readonly clock: Clock;
}

/** Synchronises the whatsapp accounts at the start of a worker, and `WHATSAPP_SYNC_INTERVAL_MS` after each synchronisation. */
export class RunWhatsappSync {
  readonly #ports: RunPorts;
  readonly #recurring: RecurringJob<SyncWhatsappWork>;
  readonly #runner: LongJobRunner;

  constructor(ports: RunPorts) {
    this.#ports = ports;
    this.#recurring = new RecurringJob(ports, syncWhatsappJob);
    this.#runner = new LongJobRunner(ports);
  }

  /**
   * A worker starts: the job is due now, because accounts or credentials may be new. While another worker has it, it stays as
   * it is. Adds nothing in a process without a platform.
   */
  async schedule(): Promise<void> {
    if (!this.#ports.whatsappPlatforms.isEmpty) await this.#recurring.schedule();
  }

  /** Resolves at once; the accounts are read in the background, outside of any transaction. Never rejects. */
  async execute(jobs: readonly LeasedJob<SyncWhatsappWork>[]): Promise<void> {
    this.#runner.begin(jobs, (job, signal) => this.#run(job, signal));
  }

  async #run(job: LeasedJob<SyncWhatsappWork>, signal: AbortSignal): Promise<void> {
    const { syncWhatsapp, whatsappPlatforms } = this.#ports;
    if (!whatsappPlatforms.isEmpty) await syncWhatsapp.execute(signal);
    if (!signal.aborted) await this.#end(job);
  }

  /** The job is due again, also when accounts failed. Without a platform it is done: the next worker that has one adds it. */
  async #end(job: LeasedJob<SyncWhatsappWork>): Promise<void> {
    const { unitOfWork, whatsappPlatforms } = this.#ports;
    if (whatsappPlatforms.isEmpty) await unitOfWork.run(({ jobs }) => jobs.complete([job]));
    else await this.#recurring.repeat(job, async () => WHATSAPP_SYNC_INTERVAL_MS);
  }
}
