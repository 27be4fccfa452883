import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers';
import { onNextRound } from '../../../application/concurrency/next-round.ts';
import { RotatingQueue } from '../../../application/concurrency/rotating-queue.ts';
import { RoundTime } from '../../../application/concurrency/round-time.ts';
import type { Waiting } from './fair-rounds.ts';

interface Share {
  /** The milliseconds of a round; in one with 0 nothing that waits is read. */
  readonly msMax: () => number;
  /** What waits and may be read in one round: what it takes is not known when it begins. */
  readonly perRound: number;
  /** After a round in which reading took more than it has, all reading pauses, so that it takes this share of the time. */
  readonly share: number;
}

/**
 * Lets what clients send be read while a round of the event loop has time for it and nothing waits, and then a few pieces in a
 * round, alternately by address in rotation and by time: however many clients connect or send large bodies, wanted or not, other
 * work is done in between.
 */
export class FairReading {
  readonly #options: Share;
  readonly #time: RoundTime;
  readonly #waiting = new RotatingQueue<Waiting>();
  #isScheduled = false;
  /** Whether the last one was taken by time. */
  #isByTime = true;
  /** Of this round: when something was read first, and last. Null when nothing was. */
  #firstAt: number | null = null;
  #lastAt = 0;
  #pausedUntil = 0;

  constructor(options: Share) {
    this.#options = options;
    this.#time = new RoundTime(options.msMax, () => performance.now());
  }

  /** Whether the next piece of a client in `network` may follow at once. If not, `reader` is served when it may. */
  mayGoOn(network: string, reader: Waiting): boolean {
    if (this.#waiting.isEmpty && this.#pauseMs() <= 0 && this.#time.isLeft()) return true;
    this.#waiting.add(network, reader);
    this.#schedule();
    return false;
  }

  /** The client is gone. Does nothing when its reader does not wait. */
  drop(reader: Waiting): void {
    this.#waiting.drop(reader);
  }

  /** A part of a piece was read: the time from the first part in a round to the last one counts. */
  noteRead(): void {
    this.#lastAt = performance.now();
    if (this.#firstAt !== null) return;
    this.#firstAt = this.#lastAt;
    onNextRound(() => this.#endRound());
  }

  #endRound(): void {
    const { msMax, share } = this.#options;
    const ms = this.#lastAt - (this.#firstAt ?? this.#lastAt);
    this.#firstAt = null;
    if (ms > msMax()) this.#pausedUntil = this.#lastAt + ms * (1 / share - 1);
  }

  #pauseMs(): number {
    return this.#pausedUntil - performance.now();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const pauseMs = this.#pauseMs();
    if (pauseMs > 0) setTimeout(() => this.#serve(), pauseMs);
    else setImmediate(() => this.#serve());
  }

  #serve(): void {
    this.#isScheduled = false;
    if (this.#options.msMax() > 0 && this.#pauseMs() <= 0) {
      for (let piece = 0; piece < this.#options.perRound; piece += 1) this.#next()?.serveNext();
    }
    if (!this.#waiting.isEmpty) this.#schedule();
  }

  /** By address in rotation and by time, alternately: one address with many clients waits for few, as do many addresses. */
  #next(): Waiting | undefined {
    this.#isByTime = !this.#isByTime;
    return this.#isByTime ? this.#waiting.takeOldest() : this.#waiting.take();
  }
}
