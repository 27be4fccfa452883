import { onNextRound } from '../../../../application/concurrency/next-round.ts';

/**
 * How much of one kind of work a round of the event loop may have, in whatever unit it is counted. Unlike the time it takes,
 * that is the same on a machine that does other work.
 */
export class RoundBudget {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes that much of the round; false, and takes nothing, if there is less left. */
  take(amount: number): boolean {
    if (this.#taken + amount > this.#max) return false;
    if (this.#taken === 0) {
      onNextRound(() => {
        this.#taken = 0;
      });
    }
    this.#taken += amount;
    return true;
  }
}
