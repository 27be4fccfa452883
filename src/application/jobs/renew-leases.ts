import { type ConfirmedLease, LEASE_MS, type LeasedJob, type Work } from '../../domain/jobs/job.ts';
import { Batcher } from '../batching/batcher.ts';
import type { Clock } from '../ports/clock.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';

interface RenewPorts {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly workerId: string;
}

/** Extends the leases of jobs in the name of this worker, many in one transaction. */
export class RenewLeases {
  readonly #ports: RenewPorts;
  readonly #batcher: Batcher<LeasedJob, ConfirmedLease | null>;

  constructor(ports: RenewPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((jobs, { lockWait }) => this.#renewAll(jobs, lockWait), {
      clock: ports.clock,
      projectsOf: async (jobs) => jobs.map(({ work }) => projectOf(work)),
    });
  }

  /** Resolves with the lease once it is committed, or with null when another process has the job by now. */
  execute(job: LeasedJob): Promise<ConfirmedLease | null> {
    return this.#batcher.submit(job);
  }

  async #renewAll(
    jobs: readonly LeasedJob[],
    lockWait: LockWait,
  ): Promise<readonly (ConfirmedLease | null)[]> {
    const { unitOfWork, clock, workerId } = this.#ports;
    const at = clock.now();
    const until = at + LEASE_MS;
    const renewed = new Set(
      await unitOfWork.run((stores) => stores.jobs.renew(jobs, until, workerId), 'eventual', lockWait),
    );
    return jobs.map((job) => (renewed.has(job) ? { at, until } : null));
  }
}

/** Work without a project, such as retention, goes together. */
function projectOf(work: Work): string {
  return 'projectId' in work && typeof work.projectId === 'string' ? work.projectId : '';
}
