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
      this.#admit();
    }
  }

  #enter(key: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? [];
      waiting.push(resolve);
      this.#waiting.set(key, waiting);
      this.#admit();
    });
  }

  /** A key that is served goes behind the others. */
  #admit(): void {
    for (const [key, [next, ...others]] of [...this.#waiting]) {
      if (!this.#running.tryBegin(key)) continue;
      this.#waiting.delete(key);
      if (others.length > 0) this.#waiting.set(key, others);
      next?.();
    }
  }
}
