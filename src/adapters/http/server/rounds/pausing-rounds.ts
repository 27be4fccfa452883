import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers';
import { RotatingQueue } from '../../../../application/concurrency/rotating-queue.ts';

/** What waits for the event loop. */
export interface RoundTask {
  /** Does one piece, and adds itself again when there is one more. */
  serveNext(): void;
}

/**
 * What waits for rounds of the event loop, under keys such as addresses and projects. While something waits, `serve` is called in
 * each round, and behind a round that took long only after a pause, so that all rounds together take `share` of the time.
 */
export class PausingRounds {
  readonly waiting = new RotatingQueue<RoundTask>();
  readonly #share: number;
  readonly #serve: () => void | Promise<void>;
  #isScheduled = false;
  #pausedUntil = 0;

  constructor(share: number, serve: () => void | Promise<void>) {
    this.#share = share;
    this.#serve = serve;
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Adds what is not waiting yet, behind what waits under the key. */
  add(key: string, waiting: RoundTask): void {
    this.waiting.add(key, waiting);
    this.#schedule();
  }

  /** Pauses behind work that took `ms` and ended at `endedAt`, by the clock of `performance`. A pause that ends later stays. */
  pauseBehind(ms: number, endedAt: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, endedAt + ms * (1 / this.#share - 1));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const pauseMs = this.#pausedUntil - performance.now();
    if (pauseMs > 0) setTimeout(() => void this.#round(), pauseMs);
    else setImmediate(() => void this.#round());
  }

  async #round(): Promise<void> {
    await this.#serve();
    this.#isScheduled = false;
    if (!this.waiting.isEmpty) this.#schedule();
  }
}
