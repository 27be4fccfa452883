import { onNextRound } from './next-round.ts';

/** What one kind of work may take of each round of the event loop, so that other work is done in between. */
export class RoundTime {
  readonly #msMax: () => number;
  readonly #nowMs: () => number;
  #number = 0;
  /** When the time of this round is over; null before the first call in it. */
  #endsAt: number | null = null;

  /** `msMax` returns the milliseconds of a round, counted from its first call. `nowMs` never goes back. */
  constructor(msMax: () => number, nowMs: () => number) {
    this.#msMax = msMax;
    this.#nowMs = nowMs;
  }

  /** The number of this round: every call before the next round gets the same. */
  get number(): number {
    this.#begin();
    return this.#number;
  }

  /** Whether this round has time for more. */
  isLeft(): boolean {
    const now = this.#nowMs();
    return now < this.#begin(now);
  }

  /** Returns when the time of this round is over. */
  #begin(now = this.#nowMs()): number {
    if (this.#endsAt === null) {
      this.#endsAt = now + this.#msMax();
      onNextRound(() => {
        this.#endsAt = null;
        this.#number += 1;
      });
    }
    return this.#endsAt;
  }
}
