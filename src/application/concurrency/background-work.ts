import type { Logger } from '../ports/logger.ts';
import { WaitGroup } from './wait-group.ts';

/**
 * Work whose callers do not wait for it. It has no limit of its own: each caller bounds what it starts, such as
 * `SubmissionCapacity` for channels and `DeliveryCapacity` for webhooks.
 */
export class BackgroundWork {
  readonly #logger: Logger;
  readonly #inFlight = new WaitGroup();
  readonly #whenStopping: (() => void)[] = [];
  #isStopping = false;
  #starts = 0;

  constructor({ logger }: { readonly logger: Logger }) {
    this.#logger = logger;
  }

  /** Starts `work` and returns at once. A rejection is logged. */
  start(work: () => Promise<void>): void {
    this.#inFlight.begin();
    this.#starts += 1;
    void this.#run(work);
  }

  async #run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#logger.error('background_work_failed', error);
    } finally {
      this.#inFlight.end();
    }
  }

  /** Whether the process stops: work that takes long ends soon then. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Calls `listener` when the process stops. For listeners that live as long as this. */
  whenStopping(listener: () => void): void {
    this.#whenStopping.push(listener);
  }

  /** Makes work that takes long end soon. `idle` resolves then. */
  stop(): void {
    this.#isStopping = true;
    for (const listener of this.#whenStopping) listener();
  }

  /** How many pieces of work were started so far. */
  get starts(): number {
    return this.#starts;
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.#inFlight.idle();
  }
}
