import { setImmediate } from 'node:timers';

/** After so many milliseconds of transactions, the next one begins in the next turn of the event loop. */
export const TURN_MS = 3;

/**
 * Lets the event loop turn between transactions: those that wait for the only connection would follow each other in one turn
 * otherwise, and requests would wait for all of them.
 */
export class TurnBudget {
  readonly #now: () => number;
  #startedAt: number | null = null;

  /** `now` counts milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves at once while this event-loop turn is young, else in the next one. */
  async begin(): Promise<void> {
    if (this.#startedAt !== null && this.#now() - this.#startedAt >= TURN_MS) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    if (this.#startedAt === null) this.#startTurn();
  }

  #startTurn(): void {
    this.#startedAt = this.#now();
    setImmediate(() => {
      this.#startedAt = null;
    });
  }
}
