import { BATCH_ITEMS_MAX } from '../batching/batch-queue.ts';
import { WaitGroup } from '../concurrency/wait-group.ts';

/** Counts the submit results that are not committed yet: a deadline must not come before the result of its attempt. */
export class UncommittedResults<Item> {
  readonly #inFlight = new WaitGroup();
  readonly #counted = new Set<Item>();
  /** The next tries of those that an outage of the database holds up. */
  readonly #heldUp = new Set<Promise<unknown>>();

  /** Counts one more. It needs an `end`. */
  begin(item: Item): void {
    this.#inFlight.begin();
    this.#counted.add(item);
  }

  /** Counts these no more. An item that is not counted changes nothing. */
  end(items: readonly Item[]): void {
    this.#inFlight.end(items.filter((item) => this.#counted.delete(item)).length);
  }

  /** Makes `keptUp` wait until the next try of a result has ended. */
  async holdUp<Result>(nextTry: Promise<Result>): Promise<Result> {
    this.#heldUp.add(nextTry);
    return await nextTry.finally(() => this.#heldUp.delete(nextTry));
  }

  /**
   * Resolves when no more results are counted than fit into one batch, and those that an outage holds up were tried once more.
   */
  async keptUp(): Promise<void> {
    await Promise.allSettled(this.#heldUp);
    await this.#inFlight.atMost(BATCH_ITEMS_MAX);
  }
}
