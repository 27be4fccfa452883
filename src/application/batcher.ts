import { onNextTurn } from './next-turn.ts';
import type { Clock } from './ports/clock.ts';
import type { Delay } from './ports/delay.ts';
import { StorageUnavailable } from './storage-unavailable.ts';

/** What a batch is told about itself. */
export interface BatchRun {
  /** True when these items already ran once in a batch that failed, and may or may not have taken effect. */
  readonly repeated: boolean;
  /**
   * Lets the next batch begin although this one is not over: for work that has nothing left to do but to wait for
   * its commit. Called again, or in a repeat, it does nothing; without it the next batch begins when this one is over.
   */
  readonly letNextBegin: () => void;
}

export type BatchWork<Item, Result> = (items: readonly Item[], run: BatchRun) => Promise<readonly Result[]>;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** The most items one batch may hold: long enough to spread a commit, short enough to keep the tail short. */
export const BATCH_ITEMS_MAX = 256;

/**
 * What failed as a batch is run again item by item only for this long since the batch began: what takes longer
 * is not the fault of an item, and everybody who waits would wait for each of them in turn.
 */
export const REPEATS_END_MS = 5_000;

/** Batches under way at a time: one that works, beside one that waits for its commit or has to be repeated. */
export const BATCHES_MAX = 2;

const STANDING_CLOCK: Clock = { now: () => 0 };

interface BatcherOptions {
  readonly itemsMax?: number;
  /** Without one the repeats of a batch may take any time. */
  readonly clock?: Clock;
  /** Once a batch has begun the next one waits until this is over, or until it is full; by default it waits for nobody. */
  readonly pause?: Delay;
}

/**
 * Turns single calls into batches. While one batch runs the next one fills; a batch begins at the end of the
 * event-loop turn, or of the pause if there is one. A batch that throws is run again item by item,
 * so that a poisoned item fails alone; without a database it is run again once, as it is. `work` answers in the
 * order of its items.
 */
export class Batcher<Item, Result> {
  readonly #work: BatchWork<Item, Result>;
  readonly #itemsMax: number;
  readonly #clock: Clock;
  readonly #pause: Delay | null;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isWorking = false;
  #underWay = 0;
  /** The pause since the newest batch began; null when it is over. */
  #pausing: object | null = null;

  constructor(
    work: BatchWork<Item, Result>,
    { itemsMax = BATCH_ITEMS_MAX, clock = STANDING_CLOCK, pause }: BatcherOptions = {},
  ) {
    this.#work = work;
    this.#itemsMax = itemsMax;
    this.#clock = clock;
    this.#pause = pause ?? null;
  }

  /** Resolves with the item's own result once its batch is done; rejects with its own error. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#isWorking || this.#underWay === BATCHES_MAX || this.#waiting.length === 0) return;
    if (this.#pausing !== null && this.#waiting.length < this.#itemsMax) return;
    this.#isWorking = true;
    this.#underWay += 1;
    this.#startPause();
    onNextTurn(() => void this.#runNext());
  }

  async #runNext(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#itemsMax);
    let holdsNext = true;
    const letNextBegin = (): void => {
      if (!holdsNext) return;
      holdsNext = false;
      this.#isWorking = false;
      this.#begin();
    };
    await this.#run(batch, letNextBegin);
    this.#underWay -= 1;
    letNextBegin();
    this.#begin();
  }

  #startPause(): void {
    if (this.#pause === null) return;
    const pausing = {};
    this.#pausing = pausing;
    this.#pause(() => {
      // A full batch began meanwhile, and a pause of its own with it.
      if (this.#pausing !== pausing) return;
      this.#pausing = null;
      this.#begin();
    });
  }

  async #run(batch: readonly Waiting<Item, Result>[], letNextBegin: () => void): Promise<void> {
    const items = batch.map(({ item }) => item);
    const end = this.#clock.now() + REPEATS_END_MS;
    try {
      settle(batch, await this.#work(items, { repeated: false, letNextBegin }));
    } catch (failure) {
      // Without a database no item is to blame: all of them are tried once more, together.
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
  if (results.length !== batch.length) throw new Error('A batch must answer each of its items');
  for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
}
