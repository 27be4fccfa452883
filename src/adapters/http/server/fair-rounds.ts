import { nextTick } from 'node:process';
import { setImmediate, setTimeout } from 'node:timers';
import { RoundTime } from '../../../application/concurrency/round-time.ts';

/** What waits for the event loop. */
export interface Waiting {
  /** Does one piece, and adds itself again when there is one more. */
  serveNext(): void;
}

/**
 * Gives the event loop's time to what waits: round-robin over keys, such as addresses and projects, and in order within each. In
 * one round of the loop that takes so many milliseconds and the piece that was begun, so that other work is done in between
 * however much waits; in a round with 0 milliseconds it does nothing. With a share below 1 it pauses between rounds, so that all
 * rounds together take that share of the time.
 */
export class FairRounds {
  readonly #msPerRound: () => number;
  readonly #share: number;
  /** For what does not wait. */
  readonly #time: RoundTime;
  /** The key that is served next is the first. */
  readonly #byKey = new Map<string, Set<Waiting>>();
  #isScheduled = false;
  #pausedUntil = 0;

  constructor(msPerRound: () => number, share = 1) {
    this.#msPerRound = msPerRound;
    this.#share = share;
    this.#time = new RoundTime(msPerRound, () => performance.now());
  }

  /** The number of this round of the event loop: every chunk that is read before the next one has the same. */
  get round(): number {
    return this.#time.number;
  }

  /** Whether this round has time for what does not wait, counted from the first question. */
  hasTime(): boolean {
    return this.#time.isLeft();
  }

  /** Adds what is not waiting yet, behind what waits under the key. */
  add(key: string, waiting: Waiting): void {
    const others = this.#byKey.get(key);
    if (others === undefined) this.#byKey.set(key, new Set([waiting]));
    else others.add(waiting);
    this.#schedule();
  }

  /** It waits no longer. Does nothing when it does not wait under the key. */
  drop(key: string, waiting: Waiting): void {
    const others = this.#byKey.get(key);
    others?.delete(waiting);
    if (others?.size === 0) this.#byKey.delete(key);
  }

  /** Resolves when the caller may go on; null when that is now. */
  wait(key: string): Promise<void> | null {
    // What is done at once is not measured, and no pause follows it.
    if (this.#share === 1 && this.#byKey.size === 0 && this.hasTime()) return null;
    return new Promise((resolve) => this.add(key, { serveNext: resolve }));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const pauseMs = this.#pausedUntil - performance.now();
    if (pauseMs > 0) setTimeout(() => void this.#serve(), pauseMs);
    else setImmediate(() => void this.#serve());
  }

  async #serve(): Promise<void> {
    const startedAt = performance.now();
    const ms = this.#msPerRound();
    let isOver = ms === 0 || this.#byKey.size === 0;
    while (!isOver) {
      this.#serveNext();
      // What it does without waiting for anything else counts as well.
      await new Promise<void>((resolve) => nextTick(resolve));
      isOver = this.#byKey.size === 0 || performance.now() >= startedAt + ms;
    }
    const now = performance.now();
    this.#pausedUntil = now + (now - startedAt) * (1 / this.#share - 1);
    this.#isScheduled = false;
    if (this.#byKey.size > 0) this.#schedule();
  }

  #serveNext(): void {
    for (const [key, waiting] of this.#byKey) {
      // The key goes behind the others.
      this.#byKey.delete(key);
      const [next] = waiting;
      if (next !== undefined) waiting.delete(next);
      if (waiting.size > 0) this.#byKey.set(key, waiting);
      next?.serveNext();
      return;
    }
  }
}
