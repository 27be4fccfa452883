import { InFlight, type InFlightMaxima } from './in-flight.ts';

/** Lets a few pieces of work run at a time, of each key and of all; the others wait, round-robin over the keys. */
export class FairGate {
  readonly #running: InFlight;
  /** By key; the key that is let through next is the first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(maxima: InFlightMaxima) {
    this.#running = new InFlight(maxima);
  }

  /** Runs the work as soon as it is let through. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(key);
    try {
      return await work();
    } finally {
      this.#running.end(key);
      this.#admitNext();
    }
  }

  /** Nobody who waits is passed over: their keys, or all, have as many as they may. */
  async #enter(key: string): Promise<void> {
    if (this.#running.tryBegin(key)) return;
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(key);
      if (waiting === undefined) this.#waiting.set(key, [resolve]);
      else waiting.push(resolve);
    });
  }

  /** Where one has ended, another one may begin. */
  #admitNext(): void {
    for (const [key, waiting] of this.#waiting) {
      if (!this.#running.tryBegin(key)) continue;
      const next = waiting.shift();
      // A key that is served goes behind the others.
      this.#waiting.delete(key);
      if (waiting.length > 0) this.#waiting.set(key, waiting);
      next?.();
      return;
    }
  }
}
