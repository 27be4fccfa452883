import type { Logger } from './ports/logger.ts';

/**
 * Calls to the outside that nobody waits for: what they are about is committed before they start, and what
 * they learn is committed when they end. Bounded, so that a slow outside cannot fill the memory.
 */
export class BackgroundWork {
  readonly #logger: Logger;
  readonly #itemsMax: number;
  #items = 0;
  #starts = 0;
  readonly #waiters: (() => void)[] = [];

  constructor({ logger, itemsMax }: { readonly logger: Logger; readonly itemsMax: number }) {
    this.#logger = logger;
    this.#itemsMax = itemsMax;
  }

  /** Starts `work`, which stands for so many items, and returns at once. A rejection is logged. */
  start(items: number, work: () => Promise<void>): void {
    this.#items += items;
    this.#starts += 1;
    void this.#run(items, work);
  }

  async #run(items: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logger.error('background_work_failed', error);
    } finally {
      this.#items -= items;
      for (const wake of this.#waiters.splice(0)) wake();
    }
  }

  /** How often something was started so far. */
  get starts(): number {
    return this.#starts;
  }

  /** Resolves when there is capacity for more. */
  async waitForCapacity(): Promise<void> {
    while (this.#items >= this.#itemsMax) await this.#oneEnded();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#items > 0) await this.#oneEnded();
  }

  #oneEnded(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }
}
