import { setImmediate } from 'node:timers';

/** After so many milliseconds of transactions, the next one begins in the next turn of the event loop. */
export const TURN_MS = 3;

/**
 * Lets the event loop turn between transactions: those that wait for the only connection would follow each other in one turn
 * otherwise, and requests would wait for all of them.
 */
export class TurnBudget {
  #startedAt: number | null = null;

  /** Resolves at once while this event-loop turn is young, else in the next one. */
  async begin(): Promise<void> {
    if (this.#startedAt !== null && performance.now() - this.#startedAt >= TURN_MS) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    if (this.#startedAt === null) this.#startTurn();
  }

  #startTurn(): void {
    this.#startedAt = performance.now();
    setImmediate(() => {
      this.#startedAt = null;
    });
  }
}
