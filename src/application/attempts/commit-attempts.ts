import { isDispatchedBy } from '../../domain/chain/attempt-start.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { isStorageFailure } from '../errors/storage-failure.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import type { Stores } from '../ports/stores.ts';
import type { Timeout } from '../ports/timeout.ts';
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
import type { WaitingStarts } from './waiting-starts.ts';

interface CommitPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly applyMessageEvents: Pick<ApplyMessageEvents, 'isLocked'>;
  readonly submitAttempts: SubmitAttempts;
  readonly waitingStarts: Pick<WaitingStarts, 'add'>;
  readonly revokeAttempts: RevokeAttempts;
  readonly background: BackgroundWork;
  /** Between two tries to read which attempts were started, after a commit whose reply was lost. */
  readonly resultRetryDelay: Timeout;
}

/** What starts attempts or ends their time. */
export type AttemptBatch = Pick<MessageBatch, 'jobs' | 'readyStarts'>;

/** Commits what starts attempts or ends their time. Then it submits and revokes at the channel providers. */
export class CommitAttempts {
  readonly #ports: CommitPorts;
  #isStopping = false;

  constructor(ports: CommitPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves after the commit of one transaction; the submissions and revocations that follow go on in the background. Rejects as
   * the unit of work does. When the database is lost, the attempts may have been started all the same. Then they are submitted
   * once the database is back.
   */
  async execute(batch: AttemptBatch, lockWait: LockWait): Promise<void> {
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

  /** From here on, attempts that a lost database may have started are read once more, and not again. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Submits the attempts whose start was committed while the reply to the commit was lost: no other process submits them. */
  async #submitStarted(pending: readonly PendingSubmission[]): Promise<void> {
    const { unitOfWork, submitAttempts, resultRetryDelay } = this.#ports;
    let started: readonly PendingSubmission[] | null = null;
    while (started === null) {
      await new Promise<void>((resolve) => resultRetryDelay(resolve));
      const isLastTry = this.#isStopping;
      try {
        // Locking the messages waits for a commit that is still in flight.
        started = await unitOfWork.run((stores) => startedAmong(stores, pending));
      } catch (error) {
        if (isLastTry || !isStorageFailure(error)) throw error;
      }
    }
    await submitAttempts.execute(started);
  }
}

/** The attempts that this process has started, as their `startId` shows, and that nothing has ended since. */
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
