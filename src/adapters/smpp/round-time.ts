import { setImmediate } from 'node:timers';

/** Counts what one round of the event loop may take of one kind of work, so that other work is done in between. */
export class RoundTime {
  readonly #msMax: number;
  #endsAt: number | null = null;

  /** `msMax`: milliseconds in each round, from the first question on. */
  constructor(msMax: number) {
    this.#msMax = msMax;
  }

  /** Whether this round has time left. */
  isLeft(): boolean {
    const now = performance.now();
    if (this.#endsAt === null) {
      this.#endsAt = now + this.#msMax;
      setImmediate(() => {
        this.#endsAt = null;
      });
    }
    return now < this.#endsAt;
  }
}
