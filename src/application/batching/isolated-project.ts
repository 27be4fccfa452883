import { projectLocked, type StorageLocked } from '../errors/storage-locked.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { LockWait } from '../ports/unit-of-work.ts';
import { BATCH_ITEMS_MAX, BatchQueue } from './batch-queue.ts';
import { BatchRunner, type BatchWork } from './batch-runner.ts';
import { asRepeated, type BatchItem, rejectAll } from './waiting-items.ts';

/**
 * How long a project stays isolated after its last lock, in milliseconds. Without that time, a lock that comes and goes would
 * hold the others up again and again.
 */
export const ISOLATION_MS = 2_000;

interface IsolationOptions<Item, Result> {
  readonly work: BatchWork<Item, Result>;
  readonly clock: Clock;
  readonly batchWindow: Timeout | null;
  /** Called when the project need not be isolated any longer. */
  readonly onEnd: () => void;
}

/**
 * A project that has met a lock: its items run in batches of their own, and no other project waits for them. It begins as
 * locked.
 */
export class IsolatedProject<Item, Result> {
  readonly #clock: Clock;
  readonly #queue: BatchQueue<Item, Result>;
  /** Nothing has succeeded since a lock was met. */
  #isLocked = true;
  /** When a lock was there last, by the clock. */
  #lockedAt: number;

  constructor({ work, clock, batchWindow, onEnd }: IsolationOptions<Item, Result>) {
    this.#clock = clock;
    this.#lockedAt = clock.now();
    const runner = new BatchRunner({
      work,
      clock,
      projectsOf: null,
      lockWaitOf: (batch) => this.#lockWaitOf(batch),
      onSuccess: () => this.#succeed(),
      onLock: async (batch, failure, lockWait) => this.#runBehindLock(batch, failure, lockWait),
      onAway: (failure) => rejectAll(this.#queue.takeAll(), failure),
    });
    this.#queue = new BatchQueue({
      batchWindow,
      run: async (batch, letNextBegin) => {
        await runner.run(batch, letNextBegin);
        if (!this.#isLocked && this.#isOver) onEnd();
      },
    });
  }

  /** Whether a row of the project is locked, as far as is known. */
  get isLocked(): boolean {
    return this.#isLocked && !this.isIdle;
  }

  /** Nothing runs or waits, and the time of the isolation is over. */
  get isIdle(): boolean {
    return this.#queue.isIdle && this.#isOver;
  }

  /** Notes a lock. What waits runs behind it, and nobody waits for that. */
  meetLock(): void {
    this.#isLocked = true;
    this.#lockedAt = this.#clock.now();
    for (const { lock } of this.#queue.waiting) lock?.isolated();
  }

  /** Adds items that have met the lock. */
  addAgain(items: readonly BatchItem<Item, Result>[]): void {
    this.#queue.add(items);
  }

  /** Adds an item that comes while the project is isolated. Behind a lock it may fail at once. */
  add(waiting: BatchItem<Item, Result>): void {
    const { lock, reject } = waiting;
    if (this.#isLocked && lock !== undefined) {
      lock.isolated();
      const isFull = this.#queue.waiting.length >= BATCH_ITEMS_MAX;
      if (isFull || lock.whenLocked === 'fail') reject(projectLocked());
      if (isFull) return;
    }
    this.#queue.add([waiting]);
  }

  /** Takes away all that waits. */
  takeAll(): readonly BatchItem<Item, Result>[] {
    return this.#queue.takeAll();
  }

  /** The time of the isolation is over, also when the clock was put back. */
  get #isOver(): boolean {
    return Math.abs(this.#clock.now() - this.#lockedAt) >= ISOLATION_MS;
  }

  /** A batch waits long only behind a lock that it has met. Items that can come again wait in it, too. */
  #lockWaitOf(batch: readonly BatchItem<Item, Result>[]): LockWait {
    return this.#isLocked || batch.some(({ repeated }) => repeated) ? 'long' : 'brief';
  }

  /** Runs a batch that met a lock again. One that has waited long for the lock is rejected. */
  #runBehindLock(
    batch: readonly BatchItem<Item, Result>[],
    failure: StorageLocked,
    lockWait: LockWait,
  ): void {
    this.meetLock();
    if (lockWait === 'long') {
      rejectAll(batch, failure);
      return;
    }
    for (const { lock } of batch) lock?.isolated();
    this.#queue.add(batch.map(asRepeated));
  }

  /** Notes that a batch has succeeded: a lock that was there is gone since now. */
  #succeed(): void {
    if (!this.#isLocked) return;
    this.#isLocked = false;
    this.#lockedAt = this.#clock.now();
  }
}
