import { StorageLocked } from '../errors/storage-locked.ts';
import { StorageAway, StorageUnavailable } from '../errors/storage-unavailable.ts';
import { groupBy } from '../group-by.ts';
import type { Clock } from '../ports/clock.ts';
import type { LockWait } from '../ports/unit-of-work.ts';
import { runByHalves } from './by-halves.ts';
import { asRepeated, type BatchItem, itemsOf, rejectAll, settleAll } from './waiting-items.ts';

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

/** The project of each item, in their order. */
export type ProjectsOf<Item> = (items: readonly Item[]) => Promise<readonly string[]>;

/**
 * How long after its begin the items of a failed batch are repeated one by one, in milliseconds: each repeat makes all callers
 * wait. The items that are left then are not to blame for the failure of the batch, so they are rejected with
 * `StorageUnavailable`.
 */
export const REPEATS_END_MS = 5_000;

type Batch<Item, Result> = readonly BatchItem<Item, Result>[];

interface RunnerOptions<Item, Result> {
  readonly work: BatchWork<Item, Result>;
  /** Measures `REPEATS_END_MS`. */
  readonly clock: Clock;
  readonly projectsOf: ProjectsOf<Item> | null;
  readonly lockWaitOf: (batch: Batch<Item, Result>) => LockWait;
  /** Called when a run of items has succeeded. */
  readonly onSuccess: () => void;
  /** Takes a batch that met a lock, and is not settled. */
  readonly onLock: (batch: Batch<Item, Result>, failure: StorageLocked, lockWait: LockWait) => Promise<void>;
  /** Called when the database was away for long: items that wait would fail alike. */
  readonly onAway: (failure: StorageAway) => void;
}

/**
 * Runs a batch until each of its items is settled, or given to `onLock`. A batch that throws is run again item by item, so that a
 * poisoned item fails alone. A batch that the database could not do is run again by halves, unless the database was away for
 * long.
 */
export class BatchRunner<Item, Result> {
  readonly #options: RunnerOptions<Item, Result>;

  constructor(options: RunnerOptions<Item, Result>) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(batch: Batch<Item, Result>, letNextBegin: () => void): Promise<void> {
    const end = this.#options.clock.now() + REPEATS_END_MS;
    const lockWait = this.#options.lockWaitOf(batch);
    try {
      await this.#runOnce(batch, { lockWait, letNextBegin });
    } catch (failure) {
      if (failure instanceof StorageLocked) return this.#options.onLock(batch, failure, lockWait);
      if (failure instanceof StorageAway && this.#options.clock.now() > end) {
        return this.#reject(batch, failure, end);
      }
      if (failure instanceof StorageUnavailable) {
        // The next batch does not wait: a statement may take all its time in each half.
        letNextBegin();
        return this.#repeatByHalves(batch, end);
      }
      await this.#repeatEach(batch, failure, end);
    }
  }

  async #runOnce(
    batch: Batch<Item, Result>,
    run: Pick<BatchRun, 'lockWait' | 'letNextBegin'>,
  ): Promise<void> {
    const repeated = batch.some((waiting) => waiting.repeated);
    settleAll(batch, await this.#options.work(itemsOf(batch), { ...run, repeated }));
    this.#options.onSuccess();
  }

  /** Runs items of a failed batch again. Those that meet a lock are not waited for. */
  async #runAgain(batch: Batch<Item, Result>): Promise<void> {
    const again = batch.map(asRepeated);
    const lockWait = this.#options.lockWaitOf(again);
    try {
      await this.#runOnce(again, { lockWait, letNextBegin: () => {} });
    } catch (error) {
      if (!(error instanceof StorageLocked)) throw error;
      await this.#options.onLock(again, error, lockWait);
    }
  }

  async #repeatByHalves(batch: Batch<Item, Result>, end: number): Promise<void> {
    const undone = await runByHalves(await this.#inOrderOfProjects(batch), {
      isOver: () => this.#options.clock.now() > end,
      run: (half) => this.#runAgain(half),
      runEach: (half, failure) => this.#repeatEach(half, failure, end),
    });
    for (const { items, error } of undone) this.#reject(items, error, end);
  }

  /** Often the row of a project is to blame: in this order one half is without it. */
  async #inOrderOfProjects(batch: Batch<Item, Result>): Promise<Batch<Item, Result>> {
    const projectIds = await this.#options.projectsOf?.(itemsOf(batch)).catch(() => []);
    return [...groupBy(batch, (_, index) => projectIds?.[index] ?? '').values()].flat();
  }

  async #repeatEach(batch: Batch<Item, Result>, failure: unknown, end: number): Promise<void> {
    let hopeless: { readonly error: unknown } | null = null;
    for (const waiting of batch) {
      if (this.#options.clock.now() > end) {
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

  /** Rejects items. When the database was away for long, all items that wait are rejected, too: they would fail alike. */
  #reject(batch: Batch<Item, Result>, error: unknown, end: number): void {
    rejectAll(batch, error);
    if (error instanceof StorageAway && this.#options.clock.now() > end) this.#options.onAway(error);
  }
}
