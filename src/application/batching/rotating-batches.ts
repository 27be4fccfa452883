import { onNextRound } from '../concurrency/next-round.ts';
import { RotatingQueue } from '../concurrency/rotating-queue.ts';
import { StorageAway } from '../errors/storage-unavailable.ts';
import type { ItemSettled } from './waiting-items.ts';

interface RotatingBatchesOptions<Item> {
  /** The most items of a batch. */
  readonly batchMax: number;
  /** `call` is a number of the call that brought the item: as a key, it lets calls take turns. */
  readonly keyOf: (item: Item, call: number) => string;
  /** Calls `settled` once for each item. Resolves when the next batch may follow, and never rejects. */
  readonly work: (batch: readonly Item[], settled: ItemSettled) => Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly settle: (failure: unknown) => void;
}

/**
 * Hands over items of many callers, one batch after the other, by key in rotation. However many items come at once, the
 * work beside them waits for one batch.
 */
export class RotatingBatches<Item> {
  readonly #options: RotatingBatchesOptions<Item>;
  readonly #waiting = new RotatingQueue<Waiting<Item>>();
  #calls = 0;
  #isRunning = false;

  constructor(options: RotatingBatchesOptions<Item>) {
    this.#options = options;
  }

  /** Resolves when all items are done. Rejects with the first failure when all of them are settled. */
  submit(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    this.#calls += 1;
    return new Promise((resolve, reject) => {
      let open = items.length;
      let first: unknown = null;
      const settle = (failure: unknown): void => {
        open -= 1;
        first ??= failure;
        if (open > 0) return;
        if (first === null) resolve();
        else reject(first);
      };
      for (const item of items) this.#waiting.add(this.#options.keyOf(item, this.#calls), { item, settle });
      if (this.#isRunning) return;
      this.#isRunning = true;
      onNextRound(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (!this.#waiting.isEmpty) {
      const batch = this.#nextBatch();
      let away: StorageAway | null = null;
      const settled: ItemSettled = (index, failure) => {
        if (failure instanceof StorageAway) away = failure;
        batch[index]?.settle(failure);
      };
      await this.#options.work(
        batch.map(({ item }) => item),
        settled,
      );
      // What waits would wait as long for the database, and fail alike.
      if (away !== null) for (const { settle } of this.#waiting.takeAll()) settle(away);
    }
    this.#isRunning = false;
  }

  #nextBatch(): readonly Waiting<Item>[] {
    const batch: Waiting<Item>[] = [];
    while (batch.length < this.#options.batchMax) {
      const next = this.#waiting.take();
      if (next === undefined) break;
      batch.push(next);
    }
    return batch;
  }
}
