import { isDispatchedBy } from '../../domain/messages/attempt-start.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { isStorageFailure } from '../errors/storage-failure.ts';
import { StorageLocked } from '../errors/storage-locked.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import { groupBy } from '../group-by.ts';
import type { MessageWork } from '../jobs/attempt-jobs.ts';
import type { LeasedJob } from '../jobs/job.ts';
import type { Delay } from '../ports/delay.ts';
import type { Stores } from '../ports/stores.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';
import {
  type AdvanceMessages,
  type MessageBatch,
  NO_WORK,
  type PendingSubmission,
} from './advance-messages.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { RevokeAttempts } from './revoke-attempts.ts';
import type { SubmitAttempts } from './submit-attempts.ts';
import type { WaitingStart, WaitingStarts } from './waiting-starts.ts';

interface AttemptJobPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly submitAttempts: SubmitAttempts;
  readonly waitingStarts: WaitingStarts;
  readonly revokeAttempts: RevokeAttempts;
  readonly background: BackgroundWork;
  /** Between two tries to read which attempts were started, after a commit whose reply was lost. */
  readonly resultRetryDelay: Delay;
}

type AttemptJobs = readonly LeasedJob<MessageWork>[];

/** Does the jobs of messages: starts attempts, and ends the time of those that brought no delivery. */
export class RunAttemptJobs {
  readonly #ports: AttemptJobPorts;
  /** The kinds and projects whose jobs wait for a lock in the background: one batch of each. */
  readonly #isolated = new Set<string>();
  #isStartingWaiting = false;
  #isStopping = false;

  constructor(ports: AttemptJobPorts) {
    this.#ports = ports;
    ports.waitingStarts.whenCapacity(() => this.#startWaiting());
  }

  /**
   * Commits the removal of the jobs and their effect in one transaction. The submissions and revocations that follow go on
   * in the background. Rejects when a job failed. First waits until not much more than one batch of submit results is left to
   * commit. Without that, attempts start faster than results are committed.
   *
   * When the jobs meet a lock they are done by project. A project that meets it again goes on in the background, where
   * nobody waits for it. Until that is over its further jobs of this kind stay leased: they come again when their lease ends.
   *
   * When the database is lost, the attempts may have been started all the same. Those that were are submitted once it is back.
   */
  async execute(jobs: AttemptJobs): Promise<void> {
    await this.#ports.applyMessageEvents.keptUp();
    const shared = this.#isolated.size === 0 ? jobs : await this.#withoutIsolated(jobs);
    if (shared.length === 0) return;
    try {
      await this.#run({ jobs: shared }, 'brief');
    } catch (error) {
      if (!(error instanceof StorageLocked)) throw error;
      await this.#runByProject(shared);
    }
  }

  /** From here on what a lost database may have started is read once more, and not again. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Attempts that waited begin one batch at a time: meanwhile their providers get capacity for the next one. */
  #startWaiting(): void {
    if (this.#isStartingWaiting || this.#isStopping) return;
    this.#isStartingWaiting = true;
    this.#ports.background.start(async () => {
      try {
        await this.#startAllWaiting();
      } catch (error) {
        this.#isStartingWaiting = false;
        throw error;
      }
    });
  }

  async #startAllWaiting(): Promise<void> {
    const { waitingStarts, applyMessageEvents } = this.#ports;
    while (!this.#isStopping) {
      await applyMessageEvents.keptUp();
      const early = waitingStarts.takeReady();
      if (early.length === 0) {
        // At once: what ends from here on is told again.
        this.#isStartingWaiting = false;
        return;
      }
      await this.#startWaitingTogether(early);
      // What was postponed once more left its capacity to others.
      for (const { provider } of early) waitingStarts.mayHaveCapacity(provider);
    }
  }

  /** When they meet a lock they are started by project. Those that meet it again are left to their jobs. */
  async #startWaitingTogether(early: readonly WaitingStart[]): Promise<void> {
    try {
      await this.#run({ early }, 'brief');
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      const projects = [...groupBy(early, ({ backlog }) => backlog.projectId).values()];
      if (projects.length === 1 || !(error instanceof StorageLocked)) return;
      await Promise.all(projects.map((own) => this.#startWaitingTogether(own)));
    }
  }

  async #run(batch: Pick<MessageBatch, 'jobs' | 'early'>, lockWait: LockWait): Promise<void> {
    const { unitOfWork, advanceMessages, applyMessageEvents, submitAttempts, revokeAttempts, background } =
      this.#ports;
    const isLocked = (projectId: string): boolean => applyMessageEvents.isLocked(projectId);
    let work = NO_WORK;
    const advance = async (stores: Stores): Promise<void> => {
      work = NO_WORK;
      work = await advanceMessages.execute(stores, { ...batch, isLocked });
    };
    try {
      await unitOfWork.run(advance, 'full', lockWait);
    } catch (error) {
      const started = work.submissions;
      const mayBeStarted = error instanceof StorageUnavailable && started.length > 0;
      if (mayBeStarted) background.start(() => this.#submitStarted(started));
      throw error;
    }
    const { submissions, revocations, waiting } = work;
    this.#ports.waitingStarts.add(waiting);
    if (submissions.length > 0) background.start(() => submitAttempts.execute(submissions));
    revokeAttempts.start(revocations);
  }

  /** Submits those whose start was committed, and only its reply was lost: no other process submits them. */
  async #submitStarted(pending: readonly PendingSubmission[]): Promise<void> {
    const { unitOfWork, submitAttempts, resultRetryDelay } = this.#ports;
    let started: readonly PendingSubmission[] | null = null;
    while (started === null) {
      await new Promise<void>((resolve) => resultRetryDelay(resolve));
      const isLastTry = this.#isStopping;
      try {
        // Waits for a commit that is still in flight, whose messages are locked.
        started = await unitOfWork.run((stores) => startedAmong(stores, pending));
      } catch (error) {
        if (isLastTry || !isStorageFailure(error)) throw error;
      }
    }
    await submitAttempts.execute(started);
  }

  async #runByProject(jobs: AttemptJobs): Promise<void> {
    const groups = groupBy(await this.#keyed(jobs), ({ key }) => key);
    const outcomes = await Promise.allSettled(
      [...groups].map(async ([key, group]) => {
        const own = group.map(({ job }) => job);
        try {
          if (groups.size > 1) await this.#run({ jobs: own }, 'brief');
          else this.#isolate(key, own);
        } catch (error) {
          if (!(error instanceof StorageLocked)) throw error;
          this.#isolate(key, own);
        }
      }),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  #isolate(key: string, jobs: AttemptJobs): void {
    this.#isolated.add(key);
    this.#ports.background.start(() => this.#run({ jobs }, 'long').finally(() => this.#isolated.delete(key)));
  }

  async #withoutIsolated(jobs: AttemptJobs): Promise<AttemptJobs> {
    const keyed = await this.#keyed(jobs);
    return keyed.filter(({ key }) => !this.#isolated.has(key)).map(({ job }) => job);
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

/** Those that this process has started, as their `startId` shows, and that nothing has ended since. */
async function startedAmong(
  { messages }: Stores,
  pending: readonly PendingSubmission[],
): Promise<readonly PendingSubmission[]> {
  const locked = await messages.lock(pending.map(({ message }) => message.smsId));
  const stored = new Map(locked.map((message) => [message.smsId, message]));
  return pending.filter(({ message, attemptNumber }) => {
    const own = message.attempts[attemptNumber]?.startId;
    const found = stored.get(message.smsId);
    return own !== undefined && found !== undefined && isDispatchedBy(found, attemptNumber, own);
  });
}
