import { StorageLocked } from '../errors/storage-locked.ts';
import { StorageAway, StorageUnavailable } from '../errors/storage-unavailable.ts';
import { groupBy } from '../group-by.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { LockWait } from '../ports/unit-of-work.ts';
import { runByHalves } from './by-halves.ts';
import { Isolation } from './isolation.ts';
import { onNextRound } from './next-round.ts';
import {
  asRepeated,
  type ItemSettled,
  itemsOf,
  rejectAll,
  settleAll,
  type Waiting,
  waitingOnce,
} from './waiting-items.ts';

/** One run of a batch. */
export interface BatchRun {
  /** True when these items already ran once in a batch that failed, and may or may not have taken effect. */
  readonly repeated: boolean;
  /** How long the batch may wait for locks: briefly when items of other projects would wait with it. */
  readonly lockWait: LockWait;
  /**
   * Lets the next batch begin before this one ends: for work that only waits for its commit. Called again, or in a
   * repeat, it does nothing. Without this call the next batch begins when this one ends.
   */
  readonly letNextBegin: () => void;
}

export type BatchWork<Item, Result> = (items: readonly Item[], run: BatchRun) => Promise<readonly Result[]>;

/** The most items of a batch: enough to share the cost of a commit, few enough to keep the tail short. */
export const BATCH_ITEMS_MAX = 256;

/**
 * The items of a failed batch are repeated one by one only for this long since the batch began: each repeat makes all callers
 * wait. None of the others is to blame for the failure of the batch, so they are rejected with `StorageUnavailable`.
 */
export const REPEATS_END_MS = 5_000;

/** Batches in flight at a time: one that works, beside one that waits for its commit or is repeated. */
export const BATCHES_MAX = 2;

interface BatcherOptions<Item> {
  /** Measures `REPEATS_END_MS`, and how long a project stays isolated. */
  readonly clock: Clock;
  /** After a batch has begun, the next one collects items for this long or until it is full. Without it there is no wait. */
  readonly batchWindow?: Delay;
  /**
   * The project of each item, in their order. With it, a project that meets a lock is isolated: its items run in batches
   * of their own, and no other project waits for them. It is called only when a batch met a lock, or a project is isolated.
   */
  readonly projectsOf?: (items: readonly Item[]) => Promise<readonly string[]>;
  /** Called with items that are isolated from here on. */
  readonly onIsolated?: (items: readonly Item[]) => void;
}

/**
 * Turns single calls into batches. While one batch runs the next one fills; a batch begins at the end of the round of
 * the event loop, or of the batch window if there is one. A batch that throws is run again item by item, so that a poisoned item
 * fails alone. When the database could not do it, it is run again by halves, but not when the database was away for long: then
 * all that waits is rejected with it. A batch that met a lock is run again as one batch for each project, all at once. `work`
 * returns its results in the order of its items.
 */
export class Batcher<Item, Result> {
  readonly #work: BatchWork<Item, Result>;
  readonly #clock: Clock;
  readonly #batchWindow: Delay | null;
  readonly #projectsOf: NonNullable<BatcherOptions<Item>['projectsOf']> | null;
  readonly #onIsolated: (items: readonly Item[]) => void;
  /** One batcher for each isolated project. */
  readonly #isolated = new Map<string, Batcher<Item, Result>>();
  /** Null unless this is the batcher of an isolated project. */
  #isolation: Isolation | null = null;
  #endIsolation: () => void = () => {};
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isWorking = false;
  #inFlight = 0;
  /** The batch window since the newest batch began; null when it has ended. */
  #openWindow: object | null = null;

  constructor(
    work: BatchWork<Item, Result>,
    { clock, batchWindow, projectsOf, onIsolated }: BatcherOptions<Item>,
  ) {
    this.#work = work;
    this.#clock = clock;
    this.#batchWindow = batchWindow ?? null;
    this.#projectsOf = projectsOf ?? null;
    this.#onIsolated = onIsolated ?? (() => {});
  }

  /** Whether a row of the project is locked, as far as is known: no batch of it has succeeded since it was isolated. */
  isLocked(projectId: string): boolean {
    const batcher = this.#isolated.get(projectId);
    if (batcher === undefined) return false;
    return batcher.#isLocked && !batcher.#isIdleBeyondIsolation;
  }

  /** Resolves with the item's own result once its batch is done; rejects with its own error. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#add([{ item, repeated: false, resolve, reject }]);
    });
  }

  /** Resolves once all items are done, in one batch or several; rejects with the first error. */
  submitAll(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let open = items.length;
      const done = (): void => {
        open -= 1;
        if (open === 0) resolve();
      };
      this.#add(items.map((item) => ({ item, repeated: false, resolve: done, reject })));
    });
  }

  /**
   * For items that can come again. Calls `settled` once for each: with null when it is done, else with its error. Resolves when
   * no other item waits for these: each is settled, or its project has met a lock. An item of a project that is locked already
   * is settled with `StorageLocked` at once. It runs all the same, unless a full batch of its project waits.
   */
  submitEach(items: readonly Item[], settled: ItemSettled): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      let open = items.length;
      const letGo = (): void => {
        open -= 1;
        if (open === 0) resolve();
      };
      this.#add(items.map((item, index) => waitingOnce(item, (failure) => settled(index, failure), letGo)));
    });
  }

  #add(batch: readonly Waiting<Item, Result>[]): void {
    for (const waiting of batch) this.#waiting.push(waiting);
    this.#begin();
  }

  #begin(): void {
    if (this.#isWorking || this.#inFlight === BATCHES_MAX || this.#waiting.length === 0) return;
    if (this.#openWindow !== null && this.#waiting.length < BATCH_ITEMS_MAX) return;
    this.#isWorking = true;
    this.#inFlight += 1;
    this.#startWindow();
    onNextRound(() => void this.#runNext());
  }

  /** Nothing runs or waits, and the time of the isolation is over. */
  get #isIdleBeyondIsolation(): boolean {
    return this.#inFlight === 0 && this.#waiting.length === 0 && this.#isolation?.isOver === true;
  }

  get #isLocked(): boolean {
    return this.#isolation?.isLocked === true;
  }

  async #runNext(): Promise<void> {
    this.#endIdleIsolations();
    const filled = this.#waiting.splice(0, BATCH_ITEMS_MAX);
    const batch = this.#isolated.size === 0 ? filled : await this.#withoutIsolated(filled);
    let holdsNext = true;
    const letNextBegin = (): void => {
      if (!holdsNext) return;
      holdsNext = false;
      this.#isWorking = false;
      this.#begin();
    };
    if (batch.length > 0) await this.#run(batch, letNextBegin);
    this.#inFlight -= 1;
    if (!this.#isLocked && this.#isolation?.isOver === true) this.#endIsolation();
    letNextBegin();
    this.#begin();
  }

  #startWindow(): void {
    if (this.#batchWindow === null) return;
    const window = {};
    this.#openWindow = window;
    this.#batchWindow(() => {
      // A full batch began meanwhile, and with it a window of its own.
      if (this.#openWindow !== window) return;
      this.#openWindow = null;
      this.#begin();
    });
  }

  async #run(batch: readonly Waiting<Item, Result>[], letNextBegin: () => void): Promise<void> {
    const end = this.#clock.now() + REPEATS_END_MS;
    const lockWait = this.#lockWaitOf(batch);
    try {
      await this.#runOnce(batch, { lockWait, letNextBegin });
    } catch (failure) {
      if (failure instanceof StorageLocked) return this.#runBehindLock(batch, failure, lockWait);
      if (failure instanceof StorageAway && this.#clock.now() > end) {
        return this.#reject(batch, failure, end);
      }
      if (failure instanceof StorageUnavailable) {
        // A statement may take all its time in each half.
        letNextBegin();
        return this.#repeatByHalves(batch, end);
      }
      await this.#repeatEach(batch, failure, end);
    }
  }

  /** A batch of an isolated project waits long only behind a lock that it has met: items that can come again wait with it. */
  #lockWaitOf(batch: readonly Waiting<Item, Result>[]): LockWait {
    if (this.#isolation === null) return this.#projectsOf === null ? 'long' : 'brief';
    return this.#isLocked || batch.some(({ repeated }) => repeated) ? 'long' : 'brief';
  }

  async #runOnce(
    batch: readonly Waiting<Item, Result>[],
    run: Pick<BatchRun, 'lockWait' | 'letNextBegin'>,
  ): Promise<void> {
    const repeated = batch.some((waiting) => waiting.repeated);
    settleAll(batch, await this.#work(itemsOf(batch), { ...run, repeated }));
    this.#isolation?.succeed();
  }

  /** Runs items of a failed batch again. Those that meet a lock are not waited for. */
  async #runAgain(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const again = batch.map(asRepeated);
    const lockWait = this.#lockWaitOf(again);
    try {
      await this.#runOnce(again, { lockWait, letNextBegin: () => {} });
    } catch (error) {
      if (!(error instanceof StorageLocked)) throw error;
      await this.#runBehindLock(again, error, lockWait);
    }
  }

  async #repeatByHalves(batch: readonly Waiting<Item, Result>[], end: number): Promise<void> {
    const undone = await runByHalves(await this.#inOrderOfProjects(batch), {
      isOver: () => this.#clock.now() > end,
      run: async (half) => {
        try {
          await this.#runAgain(half);
        } catch (error) {
          if (error instanceof StorageUnavailable) return error;
          await this.#repeatEach(half, error, end);
        }
        return null;
      },
    });
    for (const { items, error } of undone) this.#reject(items, error, end);
  }

  /** What is to blame is often the row of a project: in this order one half is without it. */
  async #inOrderOfProjects(
    batch: readonly Waiting<Item, Result>[],
  ): Promise<readonly Waiting<Item, Result>[]> {
    const projectIds = await this.#projectsOf?.(itemsOf(batch)).catch(() => []);
    return [...groupBy(batch, (_, index) => projectIds?.[index] ?? '').values()].flat();
  }

  async #repeatEach(batch: readonly Waiting<Item, Result>[], failure: unknown, end: number): Promise<void> {
    let hopeless: { readonly error: unknown } | null = null;
    for (const waiting of batch) {
      if (this.#clock.now() > end) {
        hopeless ??= { error: batch.length > 1 ? new StorageUnavailable(failure) : failure };
      }
      try {
        if (hopeless !== null) throw hopeless.error;
        await this.#runAgain([waiting]);
      } catch (error) {
        if (error instanceof StorageUnavailable) hopeless ??= { error };
        this.#reject([waiting], error, end);
      }
    }
  }

  /** Rejects items, and all that waits when the database was away for long: it would end alike. */
  #reject(batch: readonly Waiting<Item, Result>[], error: unknown, end: number): void {
    rejectAll(batch, error);
    if (error instanceof StorageAway && this.#clock.now() > end) rejectAll(this.#waiting.splice(0), error);
  }

  /** Runs a batch that met a lock again, by project. One that has waited long for it is rejected. */
  async #runBehindLock(
    batch: readonly Waiting<Item, Result>[],
    failure: StorageLocked,
    lockWait: LockWait,
  ): Promise<void> {
    this.#isolation?.meetLock();
    if (lockWait === 'long') return rejectAll(batch, failure);
    try {
      const again = batch.map(asRepeated);
      const projectIds = await this.#projectsOf?.(itemsOf(batch));
      this.#onIsolated(itemsOf(batch));
      for (const { isolated } of batch) isolated?.();
      if (projectIds === undefined) return this.#add(again);
      const byProject = groupBy(again, (_, index) => projectIds[index] ?? '');
      for (const [projectId, own] of byProject) this.#isolate(projectId).#add(own);
    } catch (error) {
      rejectAll(batch, error);
    }
  }

  /** Hands the items of isolated projects to their batchers, and returns the others. */
  async #withoutIsolated(batch: readonly Waiting<Item, Result>[]): Promise<readonly Waiting<Item, Result>[]> {
    // Without the projects the batch runs as it is, and shows what is wrong.
    const projectIds = await this.#projectsOf?.(itemsOf(batch)).catch(() => undefined);
    if (projectIds === undefined) return batch;
    const shared: Waiting<Item, Result>[] = [];
    const isolated: Waiting<Item, Result>[] = [];
    for (const [index, waiting] of batch.entries()) {
      const batcher = this.#isolated.get(projectIds[index] ?? '');
      if (batcher === undefined) shared.push(waiting);
      else {
        isolated.push(waiting);
        batcher.#addIsolated(waiting);
      }
    }
    this.#onIsolated(itemsOf(isolated));
    return shared;
  }

  /** Takes an item of the isolated project that this is the batcher of. */
  #addIsolated(waiting: Waiting<Item, Result>): void {
    const { isolated, reject } = waiting;
    if (isolated !== undefined && this.#isLocked) {
      isolated();
      reject(new StorageLocked('A row of the project is locked'));
      if (this.#waiting.length >= BATCH_ITEMS_MAX) return;
    }
    this.#add([waiting]);
  }

  /** The batcher of a project that has met a lock. */
  #isolate(projectId: string): Batcher<Item, Result> {
    const batcher = this.#isolated.get(projectId) ?? this.#newIsolated(projectId);
    batcher.#isolation?.meetLock();
    return batcher;
  }

  #newIsolated(projectId: string): Batcher<Item, Result> {
    const batchWindow = this.#batchWindow;
    const batcher = new Batcher(this.#work, {
      clock: this.#clock,
      ...(batchWindow === null ? {} : { batchWindow }),
    });
    this.#isolated.set(projectId, batcher);
    batcher.#isolation = new Isolation(this.#clock);
    batcher.#endIsolation = () => {
      if (this.#isolated.get(projectId) !== batcher) return;
      this.#isolated.delete(projectId);
      this.#add(batcher.#waiting.splice(0));
    };
    return batcher;
  }

  #endIdleIsolations(): void {
    for (const batcher of this.#isolated.values()) {
      if (batcher.#isIdleBeyondIsolation) batcher.#endIsolation();
    }
  }
}
