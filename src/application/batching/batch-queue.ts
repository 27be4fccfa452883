import { onNextRound } from '../concurrency/next-round.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { BatchItem } from './waiting-items.ts';

/** The most items of a batch: enough to share the cost of a commit, few enough to keep the tail short. */
export const BATCH_ITEMS_MAX = 256;

/** The most batches in flight at a time: one that works, and one that waits for its commit or is repeated. */
export const BATCHES_MAX = 2;

interface QueueOptions<Item, Result> {
  /** After a batch has begun, the next one collects items for this long or until it is full. Without it there is no wait. */
  readonly batchWindow: Timeout | null;
  /**
   * Runs a batch; never rejects. The next batch begins when this one ends, or before that, when it calls `letNextBegin`. Called
   * again, that does nothing.
   */
  readonly run: (batch: readonly BatchItem<Item, Result>[], letNextBegin: () => void) => Promise<void>;
}

/**
 * Items that wait, and leave in batches. While one batch runs the next one fills; a batch begins at the end of the round of the
 * event loop, or of the batch window if there is one.
 */
export class BatchQueue<Item, Result> {
  readonly #options: QueueOptions<Item, Result>;
  readonly #waiting: BatchItem<Item, Result>[] = [];
  /** A batch runs that has not let the next one begin. */
  #isWorking = false;
  #inFlight = 0;
  /** The batch window since the newest batch began; null when it has ended. */
  #openWindow: object | null = null;

  constructor(options: QueueOptions<Item, Result>) {
    this.#options = options;
  }

  /** What waits for a batch. */
  get waiting(): readonly BatchItem<Item, Result>[] {
    return this.#waiting;
  }

  /** Nothing runs or waits. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#waiting.length === 0;
  }

  add(items: readonly BatchItem<Item, Result>[]): void {
    for (const waiting of items) this.#waiting.push(waiting);
    this.#begin();
  }

  /** Takes away all that waits. */
  takeAll(): readonly BatchItem<Item, Result>[] {
    return this.#waiting.splice(0);
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
    let holdsNext = true;
    const letNextBegin = (): void => {
      if (!holdsNext) return;
      holdsNext = false;
      this.#isWorking = false;
      this.#begin();
    };
    await this.#options.run(this.#waiting.splice(0, BATCH_ITEMS_MAX), letNextBegin);
    this.#inFlight -= 1;
    letNextBegin();
    this.#begin();
  }

  #startWindow(): void {
    const { batchWindow } = this.#options;
    if (batchWindow === null) return;
    const window = {};
    this.#openWindow = window;
    batchWindow(() => {
      // A full batch began meanwhile, and with it a window of its own.
      if (this.#openWindow !== window) return;
      this.#openWindow = null;
      this.#begin();
    });
  }
}
