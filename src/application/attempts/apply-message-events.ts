import { BATCH_ITEMS_MAX } from '../batching/batch-queue.ts';
import type { BatchRun } from '../batching/batch-runner.ts';
import { Batcher } from '../batching/batcher.ts';
import { RotatingBatches } from '../batching/rotating-batches.ts';
import type { ItemSettled } from '../batching/waiting-items.ts';
import { isStorageFailure, type StorageFailure } from '../errors/storage-failure.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import { MinuteLog } from '../minute-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { SubmissionReceipt } from '../ports/provider-events.ts';
import type { Stores } from '../ports/stores.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { AdvanceMessages, MessageEvent, PendingRevocation } from './advance-messages.ts';
import type { CorrelateReceipts, SubmittedAttempt } from './correlate-receipts.ts';
import type { RevokeAttempts } from './revoke-attempts.ts';
import { UncommittedResults } from './uncommitted-results.ts';

/** After how long a submit result that could not be stored is tried again, in milliseconds. */
export const RESULT_RETRY_MS = 500;

interface ApplyPorts {
  readonly unitOfWork: UnitOfWork;
  readonly correlateReceipts: CorrelateReceipts;
  readonly advanceMessages: AdvanceMessages;
  readonly revokeAttempts: RevokeAttempts;
  readonly wakeSignal: WakeSignal;
  /** Between two tries to store a submit result. */
  readonly resultRetryDelay: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Item =
  | { readonly kind: 'submitted'; readonly attempt: SubmittedAttempt }
  | { readonly kind: 'received'; readonly receipt: SubmissionReceipt };

/** What a batch leaves to do once it is committed. */
interface AppliedItems {
  readonly unmatched: readonly SubmissionReceipt[];
  readonly revocations: readonly PendingRevocation[];
}

/** Records what channel providers say, at once or later: one transaction per batch, and one for receipts without an attempt. */
export class ApplyMessageEvents {
  readonly #ports: ApplyPorts;
  readonly #log: MinuteLog;
  readonly #batcher: Batcher<Item, null>;
  readonly #receipts: RotatingBatches<SubmissionReceipt>;
  /** The results that are not committed yet, without those of isolated projects. */
  readonly #uncommitted = new UncommittedResults<Item>();
  /** How many batches were committed. */
  #commits = 0;
  #isStopping = false;

  constructor(ports: ApplyPorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
    this.#batcher = new Batcher((items, run) => this.#record(items, run), {
      clock: ports.clock,
      projectsOf: (items) => this.#projectsOf(items),
      onIsolated: (items) => this.#uncommitted.end(items),
    });
    this.#receipts = new RotatingBatches({
      batchMax: BATCH_ITEMS_MAX,
      keyOf: (_receipt, call) => String(call),
      work: (receipts, settled) => this.#batcher.submitEach(receipts.map(receivedItem), 'wait', settled),
    });
  }

  /**
   * Resolves when the submit result is committed, together with the receipts that came before it. While the database is away or
   * locked, storing it is tried again and again: the provider has the message, and only the result has its ids. Rejects when the
   * result failed by itself, and after `stop`.
   */
  async submitted(attempt: SubmittedAttempt): Promise<void> {
    let failure = await this.#store(attempt);
    let isOutage = failure instanceof StorageUnavailable;
    while (failure !== null) {
      if (this.#isStopping) throw failure;
      const commits = this.#commits;
      const again = this.#storeLater(attempt);
      failure = await (isOutage ? this.#uncommitted.holdUp(again) : again);
      // While others are stored the database is not away: this result fails by its own rows.
      isOutage = failure instanceof StorageUnavailable && this.#commits === commits;
    }
  }

  /** From here on, a result that cannot be stored is not tried again. */
  stop(): void {
    this.#isStopping = true;
  }

  /**
   * Resolves when no more submit results wait for their commit than fit into one batch, and the results that an outage holds up
   * were tried once more: a deadline must not come before the result of its attempt. Nobody waits for a result that cannot be
   * stored while others can. A commit that fails ends the wait, too. Results of isolated projects do not count.
   */
  keptUp(): Promise<void> {
    return this.#uncommitted.keptUp();
  }

  /** Whether a lock keeps the submit results of the project from being committed. */
  isLocked(projectId: string): boolean {
    return this.#batcher.isLocked(projectId);
  }

  /**
   * Resolves when the receipts are committed: to their messages, or parked until their submit result is committed. Rejects with
   * the first failure when all were tried; one of a locked project waits for the lock. Callbacks may bring thousands at once: a
   * batch of them is tried at a time, by callback in rotation, so that submit results go between.
   */
  received(receipts: readonly SubmissionReceipt[]): Promise<void> {
    return this.#receipts.submit(receipts);
  }

  /** The same for receipts that come again soon, each by itself: see `Batcher.submitEach`. */
  receivedEach(receipts: readonly SubmissionReceipt[], settled: ItemSettled): Promise<void> {
    return this.#batcher.submitEach(receipts.map(receivedItem), 'fail', settled);
  }

  /** Resolves with why the result could not be stored now, or with null. Rejects when it failed by itself. */
  async #store(attempt: SubmittedAttempt): Promise<StorageFailure | null> {
    const item: Item = { kind: 'submitted', attempt };
    this.#uncommitted.begin(item);
    try {
      await this.#batcher.submit(item);
      return null;
    } catch (error) {
      if (isStorageFailure(error)) return error;
      throw error;
    } finally {
      this.#uncommitted.end([item]);
    }
  }

  async #storeLater(attempt: SubmittedAttempt): Promise<StorageFailure | null> {
    await new Promise<void>((resolve) => this.#ports.resultRetryDelay(resolve));
    return await this.#store(attempt);
  }

  async #record(items: readonly Item[], { lockWait }: BatchRun): Promise<readonly null[]> {
    const { unitOfWork, correlateReceipts, advanceMessages, revokeAttempts, wakeSignal } = this.#ports;
    const { attempts, receipts } = partsOf(items);
    const apply = async (stores: Stores): Promise<AppliedItems> => {
      const [awaited, found] = await Promise.all([
        // First: a receipt may come in one batch with its submit result.
        correlateReceipts.recordIds(stores, attempts),
        correlateReceipts.find(stores, receipts),
      ]);
      const events = [...attempts.map(submittedEvent), ...awaited, ...found.events];
      const { revocations } = await advanceMessages.execute(stores, { events });
      return { unmatched: found.unmatched, revocations };
    };
    const { unmatched, revocations } = await unitOfWork.run(apply, 'full', lockWait);
    this.#commits += 1;
    this.#uncommitted.end(items);
    revokeAttempts.start(revocations);
    wakeSignal.wake();
    if (unmatched.length > 0) await this.#park(unmatched, lockWait);
    return items.map(() => null);
  }

  /**
   * Parks in a transaction of its own: two transactions that record ids, and then park under each other's, would be a deadlock.
   */
  async #park(receipts: readonly SubmissionReceipt[], lockWait: LockWait): Promise<void> {
    const { unitOfWork, correlateReceipts, advanceMessages, revokeAttempts, wakeSignal } = this.#ports;
    const park = async (stores: Stores) => {
      const { events, dropped } = await correlateReceipts.park(stores, receipts);
      const { revocations } = await advanceMessages.execute(stores, { events });
      return { dropped, revocations };
    };
    const { dropped, revocations } = await unitOfWork.run(park, 'full', lockWait);
    revokeAttempts.start(revocations);
    wakeSignal.wake();
    for (const [provider, ids] of dropped) this.#log.warn('provider_receipts_dropped', { provider }, ids);
  }

  /** Unmatched receipts belong to no project yet. */
  #projectsOf(items: readonly Item[]): Promise<readonly string[]> {
    const { unitOfWork, correlateReceipts } = this.#ports;
    const { receipts } = partsOf(items);
    return unitOfWork.read(async (stores) => {
      const ofReceipts = await correlateReceipts.smsIdsOf(stores, receipts);
      const found = new Map(receipts.map((receipt, index) => [receipt, ofReceipts[index] ?? '']));
      const smsIds = items.map((item) =>
        item.kind === 'submitted' ? item.attempt.smsId : (found.get(item.receipt) ?? ''),
      );
      const projectIds = await stores.messages.projectIdsOf([...new Set(smsIds)]);
      return smsIds.map((smsId) => projectIds.get(smsId) ?? '');
    });
  }
}

function receivedItem(receipt: SubmissionReceipt): Item {
  return { kind: 'received', receipt };
}

function partsOf(items: readonly Item[]) {
  return {
    attempts: items.flatMap((item) => (item.kind === 'submitted' ? [item.attempt] : [])),
    receipts: items.flatMap((item) => (item.kind === 'received' ? [item.receipt] : [])),
  };
}

function submittedEvent({ smsId, attemptNumber, startId, provider, result }: SubmittedAttempt): MessageEvent {
  return { smsId, event: { kind: 'submitted', attemptNumber, startId, provider, result } };
}
