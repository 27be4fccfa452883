import { InFlight, type InFlightMaxima } from './in-flight.ts';
import { RotatingQueue } from './rotating-queue.ts';

/** Lets a few pieces of work run at a time, of each key and of all; the others wait, round-robin over the keys. */
export class FairGate {
  readonly #running: InFlight;
  readonly #waiting = new RotatingQueue<() => void>();

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
      // Where one has ended, another one may begin.
      this.#waiting.take((next) => this.#running.tryBegin(next))?.();
    }
  }

  /** Nobody who waits is passed over: their keys, or all, have as many as they may. */
  async #enter(key: string): Promise<void> {
    if (this.#running.tryBegin(key)) return;
    await new Promise<void>((resolve) => this.#waiting.add(key, resolve));
  }
}
