import type { Job, LeasedJob, Work } from '../../domain/jobs/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface RecurringPorts {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** A job of which the installation has one: it is due again after each run. */
export class RecurringJob<Kind extends Work> {
  readonly #ports: RecurringPorts;
  readonly #dueAt: (at: number) => Job<Kind>;

  constructor(ports: RecurringPorts, dueAt: (at: number) => Job<Kind>) {
    this.#ports = ports;
    this.#dueAt = dueAt;
  }

  /** A worker starts: the job is due now. While another worker has it, it stays as it is. */
  async schedule(): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    await unitOfWork.run(({ jobs }) => jobs.scheduleNoLaterThan([this.#dueAt(now)], now));
  }

  /** The job has run: it is due again after `intervalMs`, which is asked behind its lock. Nothing when another worker has it. */
  async repeat(job: LeasedJob<Kind>, intervalMs: (stores: Stores) => Promise<number>): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    await unitOfWork.run(async (stores) => {
      const held = await stores.jobs.lockLeased([job]);
      if (held.length === 0) return;
      const interval = await intervalMs(stores);
      // Not completed before: the fencing tokens of this id have to rise for ever.
      const now = clock.now();
      await stores.jobs.add([this.#dueAt(now + interval)], now);
    });
  }
}
