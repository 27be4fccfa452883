import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { StorageLocked } from '../errors/storage-locked.ts';
import { groupBy } from '../group-by.ts';
import type { AttemptWork } from '../jobs/attempt-jobs.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { CommitAttempts } from './commit-attempts.ts';

interface AttemptJobPorts {
  readonly commitAttempts: CommitAttempts;
  readonly unitOfWork: Pick<UnitOfWork, 'read'>;
  readonly applyMessageEvents: Pick<ApplyMessageEvents, 'keptUp'>;
  readonly background: BackgroundWork;
}

type AttemptJobs = readonly LeasedJob<AttemptWork>[];

/** Does the jobs of messages: starts attempts, and ends the time of those that brought no delivery. */
export class RunAttemptJobs {
  readonly #ports: AttemptJobPorts;
  /** The kinds and projects whose jobs wait for a lock in the background: one batch of each. */
  readonly #behindLocks = new Set<string>();

  constructor(ports: AttemptJobPorts) {
    this.#ports = ports;
  }

  /**
   * Commits the removal of the jobs and their effect in one transaction. Rejects when a job failed. First waits until not much
   * more than one batch of submit results is left to commit. Without that, attempts start faster than results are committed.
   *
   * When the jobs meet a lock, they run again by project. The jobs of a project that meets the lock again go on in the
   * background, where nobody waits for them. Meanwhile further jobs of this project and kind stay leased: they come again when
   * their leases end.
   */
  async execute(jobs: AttemptJobs): Promise<void> {
    const { applyMessageEvents, commitAttempts } = this.#ports;
    await applyMessageEvents.keptUp();
    const shared = this.#behindLocks.size === 0 ? jobs : await this.#withoutBehindLocks(jobs);
    if (shared.length === 0) return;
    try {
      await commitAttempts.execute({ jobs: shared }, 'brief');
    } catch (error) {
      if (!(error instanceof StorageLocked)) throw error;
      await this.#runByProject(shared);
    }
  }

  async #runByProject(jobs: AttemptJobs): Promise<void> {
    const groups = groupBy(await this.#keyed(jobs), ({ key }) => key);
    const outcomes = await Promise.allSettled(
      [...groups].map(async ([key, group]) => {
        const own = group.map(({ job }) => job);
        try {
          if (groups.size > 1) await this.#ports.commitAttempts.execute({ jobs: own }, 'brief');
          else this.#runBehindLock(key, own);
        } catch (error) {
          if (!(error instanceof StorageLocked)) throw error;
          this.#runBehindLock(key, own);
        }
      }),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  #runBehindLock(key: string, jobs: AttemptJobs): void {
    this.#behindLocks.add(key);
    const { commitAttempts, background } = this.#ports;
    background.start(() =>
      commitAttempts.execute({ jobs }, 'long').finally(() => this.#behindLocks.delete(key)),
    );
  }

  async #withoutBehindLocks(jobs: AttemptJobs): Promise<AttemptJobs> {
    const keyed = await this.#keyed(jobs);
    return keyed.filter(({ key }) => !this.#behindLocks.has(key)).map(({ job }) => job);
  }

  /** The jobs, each with its kind and project as one key. */
  async #keyed(jobs: AttemptJobs) {
    const smsIds = [...new Set(jobs.map(({ work }) => work.smsId))];
    const projectIds = await this.#ports.unitOfWork.read(({ messages }) => messages.projectIdsOf(smsIds));
    return jobs.map((job) => ({
      key: `${job.work.kind} ${projectIds.get(job.work.smsId) ?? ''}`,
      job,
    }));
  }
}
