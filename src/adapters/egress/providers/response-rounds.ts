import { performance } from 'node:perf_hooks';
import { nextTick } from 'node:process';
import { nextRound } from '../../../application/concurrency/next-round.ts';
import { RotatingQueue } from '../../../application/concurrency/rotating-queue.ts';
import { RoundTime } from '../../../application/concurrency/round-time.ts';

/** How long the responses of all providers are handed on and read in one round of the event loop, in milliseconds. */
export const PROVIDER_RESPONSES_MS_MAX = 5;

/**
 * Hands on the responses of providers over HTTP. A provider may complete hundreds in one moment, and each is read as soon as it
 * is handed on: in one round of the event loop that takes `PROVIDER_RESPONSES_MS_MAX` and the response that was begun. More wait
 * for the next rounds, with the providers in rotation.
 */
export class ResponseRounds {
  readonly #waiting = new RotatingQueue<() => void>();
  readonly #time: RoundTime;
  #isServing = false;

  /** `nowMs` never goes back. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#time = new RoundTime(() => PROVIDER_RESPONSES_MS_MAX, nowMs);
  }

  /** Calls `handOn` once: now, or in a later round, behind what waits of the provider. */
  add(provider: string, handOn: () => void): void {
    if (this.#waiting.isEmpty && this.#time.isLeft()) {
      handOn();
      return;
    }
    this.#waiting.add(provider, handOn);
    void this.#serve();
  }

  async #serveRound(): Promise<void> {
    await nextRound();
    while (!this.#waiting.isEmpty && this.#time.isLeft()) {
      this.#waiting.take()?.();
      // What waits for the response reads it until then.
      await new Promise<void>((resolve) => nextTick(resolve));
    }
  }

  async #serve(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      while (!this.#waiting.isEmpty) await this.#serveRound();
    } finally {
      this.#isServing = false;
    }
  }
}
