import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** The operator's way back for dead-letter jobs, once their cause is gone. */
export class RedriveJobs {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** Makes every dead-letter job due at once, for the running service to do, and resolves with how many. */
  async execute(): Promise<number> {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.run((stores) => stores.jobs.redrive(clock.now()));
  }
}
