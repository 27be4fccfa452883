import { onNextTurn } from './next-turn.ts';
import type { Clock } from './ports/clock.ts';
import type { Delay } from './ports/delay.ts';
import { StorageUnavailable } from './storage-unavailable.ts';

/** One run of a batch. */
export interface BatchRun {
  /** True when these items already ran once in a batch that failed, and may or may not have taken effect. */
  readonly repeated: boolean;
  /**
   * Lets the next batch begin before this one ends: for work that only waits for its commit. Called again, or in a
   * repeat, it does nothing. Without this call the next batch begins when this one ends.
   */
  readonly letNextBegin: () => void;
}

export type BatchWork<Item, Result> = (items: readonly Item[], run: BatchRun) => Promise<readonly Result[]>;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** The most items of a batch: enough to share the cost of a commit, few enough to keep the tail short. */
export const BATCH_ITEMS_MAX = 256;

/**
 * The items of a failed batch are repeated one by one only for this long since the batch began. A failure that takes
 * longer is not the fault of one item, and each repeat would make all callers wait.
 */
export const REPEATS_END_MS = 5_000;

/** Batches in flight at a time: one that works, beside one that waits for its commit or is repeated. */
export const BATCHES_MAX = 2;

interface BatcherOptions {
  /** Measures `REPEATS_END_MS`. */
  readonly clock: Clock;
  /** After a batch has begun, the next one collects items for this long or until it is full. Without it there is no wait. */
  readonly batchWindow?: Delay;
}

/**
 * Turns single calls into batches. While one batch runs the next one fills; a batch begins at the end of the event-loop
 * turn, or of the batch window if there is one. A batch that throws is run again item by item, so that a poisoned item
 * fails alone; when the database was unavailable it is run again once, as a whole. `work` returns its results in the
 * order of its items.
 */
export class Batcher<Item, Result> {
  readonly #work: BatchWork<Item, Result>;
  readonly #clock: Clock;
  readonly #batchWindow: Delay | null;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isWorking = false;
  #inFlight = 0;
  /** The batch window since the newest batch began; null when it has ended. */
  #openWindow: object | null = null;

  constructor(work: BatchWork<Item, Result>, { clock, batchWindow }: BatcherOptions) {
    this.#work = work;
    this.#clock = clock;
    this.#batchWindow = batchWindow ?? null;
  }

  /** Resolves with the item's own result once its batch is done; rejects with its own error. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#begin();
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
      for (const item of items) this.#waiting.push({ item, resolve: done, reject });
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#isWorking || this.#inFlight === BATCHES_MAX || this.#waiting.length === 0) return;
    if (this.#openWindow !== null && this.#waiting.length < BATCH_ITEMS_MAX) return;
    this.#isWorking = true;
    this.#inFlight += 1;
    this.#startWindow();
    onNextTurn(() => void this.#runNext());
  }

  async #runNext(): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH_ITEMS_MAX);
    let holdsNext = true;
    const letNextBegin = (): void => {
      if (!holdsNext) return;
      holdsNext = false;
      this.#isWorking = false;
      this.#begin();
    };
    await this.#run(batch, letNextBegin);
    this.#inFlight -= 1;
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
    const items = batch.map(({ item }) => item);
    const end = this.#clock.now() + REPEATS_END_MS;
    try {
      settle(batch, await this.#work(items, { repeated: false, letNextBegin }));
    } catch (failure) {
      // Without a database no item is to blame: all are tried once more, together.
      const groups = failure instanceof StorageUnavailable ? [batch] : batch.map((waiting) => [waiting]);
      await this.#repeat(groups, failure, end);
    }
  }

  async #repeat(
    groups: readonly (readonly Waiting<Item, Result>[])[],
    failure: unknown,
    end: number,
  ): Promise<void> {
    let hopeless: { readonly error: unknown } | null = null;
    for (const group of groups) {
      if (this.#clock.now() > end) hopeless ??= { error: failure };
      try {
        if (hopeless !== null) throw hopeless.error;
        const items = group.map(({ item }) => item);
        settle(group, await this.#work(items, { repeated: true, letNextBegin: () => {} }));
      } catch (error) {
        if (error instanceof StorageUnavailable) hopeless ??= { error };
        for (const waiting of group) waiting.reject(error);
      }
    }
  }
}

function settle<Item, Result>(batch: readonly Waiting<Item, Result>[], results: readonly Result[]): void {
  if (results.length !== batch.length) throw new Error('A batch must have a result for each of its items');
  for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
}
