import { StorageLocked } from '../errors/storage-locked.ts';
import { StorageAway, StorageUnavailable } from '../errors/storage-unavailable.ts';
import { groupBy } from '../group-by.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { LockWait } from '../ports/unit-of-work.ts';
import { runByHalves } from './by-halves.ts';
import { onNextRound } from './next-round.ts';

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

interface Waiting<Item, Result> {
  readonly item: Item;
  /** Whether it ran in a batch before, and waits to be run again. */
  readonly repeated: boolean;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Called when its project is isolated; only of items that can come again, which need not wait for the lock. */
  readonly isolated?: () => void;
}

/** What became of an item: `failure` is null when it is done. */
export type ItemSettled = (index: number, failure: unknown) => void;

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
  /** Measures `REPEATS_END_MS`. */
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
 * fails alone. When the database could not do it, it is run again by halves, but not when the database was away for long. A batch
 * that met a lock is run again as one batch for each project, all at once. `work` returns its results in the order of its items.
 */
export class Batcher<Item, Result> {
  readonly #work: BatchWork<Item, Result>;
  readonly #clock: Clock;
  readonly #batchWindow: Delay | null;
  readonly #projectsOf: NonNullable<BatcherOptions<Item>['projectsOf']> | null;
  readonly #onIsolated: (items: readonly Item[]) => void;
  /** One batcher for each isolated project, until one of its batches succeeds or none of its items is left. */
  readonly #isolated = new Map<string, Batcher<Item, Result>>();
  /** Ends the isolation, when this is the batcher of an isolated project. */
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

  /** Whether items of the project run in batches of their own now, because one of its rows is locked. */
  isIsolated(projectId: string): boolean {
    return this.#isolated.has(projectId);
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
   * no other item waits for these: each is settled, or its project is isolated. An item of a project that was isolated before
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

  async #runNext(): Promise<void> {
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
    letNextBegin();
    this.#begin();
    if (this.#inFlight === 0) this.#endIsolation();
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
    try {
      await this.#runOnce(batch, letNextBegin);
    } catch (failure) {
      if (failure instanceof StorageLocked) return this.#isolate(batch, failure);
      if (failure instanceof StorageAway && this.#clock.now() > end) return rejectAll(batch, failure);
      if (failure instanceof StorageUnavailable) {
        // A statement may take all its time in each half.
        letNextBegin();
        return this.#repeatByHalves(batch, end);
      }
      await this.#repeatEach(batch, failure, end);
    }
  }

  async #runOnce(batch: readonly Waiting<Item, Result>[], letNextBegin: () => void): Promise<void> {
    const run: BatchRun = {
      repeated: batch.some(({ repeated }) => repeated),
      lockWait: this.#projectsOf === null ? 'long' : 'brief',
      letNextBegin,
    };
    settle(batch, await this.#work(itemsOf(batch), run));
    this.#endIsolation();
  }

  async #repeatByHalves(batch: readonly Waiting<Item, Result>[], end: number): Promise<void> {
    const undone = await runByHalves(await this.#inOrderOfProjects(batch), {
      isOver: () => this.#clock.now() > end,
      run: async (half) => {
        try {
          await this.#runOnce(half.map(asRepeated), () => {});
        } catch (error) {
          if (error instanceof StorageUnavailable) return error;
          if (error instanceof StorageLocked) await this.#isolate(half, error);
          else await this.#repeatEach(half, error, end);
        }
        return null;
      },
    });
    for (const { items, error } of undone) rejectAll(items, error);
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
        await this.#runOnce([asRepeated(waiting)], () => {});
      } catch (error) {
        if (error instanceof StorageUnavailable) hopeless ??= { error };
        if (error instanceof StorageLocked) await this.#isolate([waiting], error);
        else waiting.reject(error);
      }
    }
  }

  /** Runs a batch that met a lock again, by project. An isolated project has waited long for the lock: it is rejected. */
  async #isolate(batch: readonly Waiting<Item, Result>[], failure: StorageLocked): Promise<void> {
    try {
      if (this.#projectsOf === null) throw failure;
      const projectIds = await this.#projectsOf(itemsOf(batch));
      const byProject = groupBy(batch.map(asRepeated), (_, index) => projectIds[index] ?? '');
      this.#onIsolated(itemsOf(batch));
      for (const { isolated } of batch) isolated?.();
      for (const [projectId, own] of byProject) this.#batcherOf(projectId).#add(own);
    } catch (error) {
      rejectAll(batch, error);
    }
  }

  /** Hands the items of isolated projects to their batchers, and returns the others. */
  async #withoutIsolated(batch: readonly Waiting<Item, Result>[]): Promise<readonly Waiting<Item, Result>[]> {
    // Without the projects the batch runs as it is, and shows what is wrong.
    const projectIds = await this.#projectsOf?.(itemsOf(batch)).catch(() => []);
    const shared: Waiting<Item, Result>[] = [];
    const isolated: Waiting<Item, Result>[] = [];
    for (const [index, waiting] of batch.entries()) {
      const batcher = this.#isolated.get(projectIds?.[index] ?? '');
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
    const isFull = this.#waiting.length >= BATCH_ITEMS_MAX;
    if (isolated !== undefined) {
      isolated();
      reject(new StorageLocked('A row of the project is locked'));
    }
    if (isolated === undefined || !isFull) this.#add([waiting]);
  }

  /** The batcher of an isolated project, which waits long for locks. */
  #batcherOf(projectId: string): Batcher<Item, Result> {
    const known = this.#isolated.get(projectId);
    if (known !== undefined) return known;
    const batcher = new Batcher(this.#work, { clock: this.#clock });
    this.#isolated.set(projectId, batcher);
    batcher.#endIsolation = () => {
      if (this.#isolated.get(projectId) !== batcher) return;
      this.#isolated.delete(projectId);
      this.#add(batcher.#waiting.splice(0));
    };
    return batcher;
  }
}

/** An item that is settled once, and let go once: when it is settled, or isolated before that. */
function waitingOnce<Item, Result>(
  item: Item,
  settled: (failure: unknown) => void,
  letGo: () => void,
): Waiting<Item, Result> {
  let isSettled = false;
  let isHeld = true;
  const isolated = (): void => {
    if (isHeld) letGo();
    isHeld = false;
  };
  const settle = (failure: unknown): void => {
    if (!isSettled) settled(failure);
    isSettled = true;
    isolated();
  };
  return { item, repeated: false, resolve: () => settle(null), reject: settle, isolated };
}

function itemsOf<Item, Result>(batch: readonly Waiting<Item, Result>[]): readonly Item[] {
  return batch.map(({ item }) => item);
}

function asRepeated<Item, Result>(waiting: Waiting<Item, Result>): Waiting<Item, Result> {
  return { ...waiting, repeated: true };
}

function rejectAll<Item, Result>(batch: readonly Waiting<Item, Result>[], error: unknown): void {
  for (const waiting of batch) waiting.reject(error);
}

function settle<Item, Result>(batch: readonly Waiting<Item, Result>[], results: readonly Result[]): void {
  if (results.length !== batch.length) throw new Error('A batch must have a result for each of its items');
  for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
}
