import { onNextRound } from '../concurrency/next-round.ts';
import { WaitGroup } from '../concurrency/wait-group.ts';

interface BatchDrainOptions<Item> {
  /** The most items one batch may hold. */
  readonly batchMax: number;
  /** Items of different groups are never in one batch, and no group waits for another. */
  readonly groupOf: (item: Item) => string;
  /** Must not reject: the owner decides what a failed batch means. */
  readonly handle: (batch: readonly Item[]) => Promise<void>;
}

interface Group<Item> {
  readonly waiting: Item[];
  isRunning: boolean;
}

/**
 * Hands items over in batches: of each group one batch at a time, in the order of arrival. Items that arrive meanwhile fill the
 * next batch. So an idle drain hands over at the end of the round of the event loop, and a busy one hands over many items.
 */
export class BatchDrain<Item> {
  readonly #options: BatchDrainOptions<Item>;
  readonly #groups = new Map<string, Group<Item>>();
  readonly #inFlight = new WaitGroup();
  #waiting = 0;

  constructor(options: BatchDrainOptions<Item>) {
    this.#options = options;
  }

  /** How many items were not handed over yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether nothing waits and nothing is being handled. */
  get isIdle(): boolean {
    return this.#inFlight.isIdle;
  }

  push(item: Item): void {
    const group = this.#groupOf(item);
    group.waiting.push(item);
    this.#waiting += 1;
    this.#inFlight.begin();
    if (group.isRunning) return;
    group.isRunning = true;
    onNextRound(() => void this.#run(group));
  }

  /** Forgets the items that wait; batches that are being handled go on. */
  clear(): void {
    for (const { waiting } of this.#groups.values()) waiting.length = 0;
    this.#inFlight.end(this.#waiting);
    this.#waiting = 0;
  }

  /** Resolves when `isIdle`. */
  idle(): Promise<void> {
    return this.#inFlight.idle();
  }

  async #run(group: Group<Item>): Promise<void> {
    while (group.waiting.length > 0) {
      const batch = group.waiting.splice(0, this.#options.batchMax);
      this.#waiting -= batch.length;
      await this.#options.handle(batch);
      this.#inFlight.end(batch.length);
    }
    group.isRunning = false;
  }

  #groupOf(item: Item): Group<Item> {
    const name = this.#options.groupOf(item);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { waiting: [], isRunning: false };
      this.#groups.set(name, group);
    }
    return group;
  }
}
