import { setImmediate } from 'node:timers';

/** The transactions that begin in one turn of the event loop began within so many milliseconds. */
export const TURN_MS = 3;

/**
 * Lets the event loop turn between transactions: those that wait for the only connection would follow each other in one turn
 * otherwise, and requests would wait for all of them.
 */
export class TurnBudget {
  #startedAt: number | null = null;

  /** Resolves at once while this event-loop turn is young, else in the next one. */
  async begin(): Promise<void> {
    const now = performance.now();
    if (this.#startedAt === null) this.#startTurn(now);
    else if (now - this.#startedAt >= TURN_MS) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  #startTurn(now: number): void {
    this.#startedAt = now;
    setImmediate(() => {
      this.#startedAt = null;
    });
  }
}
