/** What a batch is told about itself. */
export interface BatchRun {
  /** True when these items already ran once in a batch that failed, and may or may not have taken effect. */
  readonly repeated: boolean;
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
 * Turns single calls into batches. While one batch runs the next one fills; an idle batcher starts at the end
 * of the event-loop turn, so there is no timer and no waiting. A batch that throws is run again item by item,
 * so that a poisoned item fails alone. `work` answers in the order of its items.
 */
export class Batcher<Item, Result> {
  readonly #work: BatchWork<Item, Result>;
  readonly #itemsMax: number;
  #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  constructor(work: BatchWork<Item, Result>, itemsMax: number = BATCH_ITEMS_MAX) {
    this.#work = work;
    this.#itemsMax = itemsMax;
  }

  /** Resolves with the item's own result once its batch is done; rejects with its own error. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, this.#itemsMax);
      this.#waiting = this.#waiting.slice(this.#itemsMax);
      await this.#run(batch);
    }
    this.#isRunning = false;
  }

  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    try {
      settle(batch, await this.#work(items, { repeated: false }));
    } catch {
      for (const waiting of batch) {
        try {
          settle([waiting], await this.#work([waiting.item], { repeated: true }));
        } catch (error) {
          waiting.reject(error);
        }
      }
    }
  }
}

function settle<Item, Result>(batch: readonly Waiting<Item, Result>[], results: readonly Result[]): void {
  if (results.length !== batch.length) throw new Error('A batch must answer each of its items');
  for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
}
