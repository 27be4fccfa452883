import type { Job, LeasedJob } from '../../domain/jobs/job.ts';
import { Batcher } from '../batching/batcher.ts';
import { deliverWebhooksJob, type WebhookWork } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';

/** A job to release. It is due again when its next event is, but not before this instant. */
interface Release {
  readonly job: LeasedJob<WebhookWork>;
  readonly notBefore: number;
}

/** Releases the jobs of destinations, many in one transaction. A job without events is completed. */
export class ReleaseJobs {
  readonly #ports: {
    readonly unitOfWork: UnitOfWork;
    readonly clock: Clock;
    readonly wakeSignal: WakeSignal;
  };
  readonly #batcher: Batcher<Release, null>;

  constructor(ports: {
    readonly unitOfWork: UnitOfWork;
    readonly clock: Clock;
    readonly wakeSignal: WakeSignal;
  }) {
    this.#ports = ports;
    this.#batcher = new Batcher((releases, { lockWait }) => this.#releaseAll(releases, lockWait), {
      clock: ports.clock,
      projectsOf: async (releases) => releases.map(({ job }) => job.work.projectId),
    });
  }

  /** Resolves when the release is committed. A job that another process has by now stays as it is. */
  execute(release: Release): Promise<unknown> {
    return this.#batcher.submit(release);
  }

  /**
   * The same for jobs that nobody has begun. Resolves when no other job has to wait for these: each is released, has failed, or
   * is held up by a lock of its project. A job that is held up is released later, or when its lease ends. Calls `failed` for each
   * job that is not released.
   */
  releaseUnbegun(releases: readonly Release[], failed: (error: unknown) => void): Promise<void> {
    return this.#batcher.submitEach(releases, 'fail', (_, failure) => {
      if (failure !== null) failed(failure);
    });
  }

  async #releaseAll(releases: readonly Release[], lockWait: LockWait): Promise<readonly null[]> {
    const { unitOfWork, clock, wakeSignal } = this.#ports;
    const due = await unitOfWork.run((stores) => this.#release(stores, releases), 'eventual', lockWait);
    if (due.some(({ dueAt }) => dueAt <= clock.now())) wakeSignal.wake();
    return releases.map(() => null);
  }

  /** A transaction that adds events locks the job, too. An event that is not found here makes the job due earlier after this. */
  async #release(stores: Stores, releases: readonly Release[]): Promise<readonly Job<WebhookWork>[]> {
    const notBefore = new Map(releases.map((release) => [release.job.id, release.notBefore]));
    const leased = await stores.jobs.lockLeased(releases.map(({ job }) => job));
    const next = await stores.webhookEvents.nextDueAt(leased.map(({ work }) => work));
    const due = leased.flatMap(({ id, work }, index): Job<WebhookWork>[] => {
      const dueAt = next[index] ?? null;
      return dueAt === null ? [] : [deliverWebhooksJob(work, Math.max(dueAt, notBefore.get(id) ?? 0))];
    });
    await stores.jobs.complete(leased.filter((_, index) => (next[index] ?? null) === null));
    await stores.jobs.add(due, this.#ports.clock.now());
    return due;
  }
}
