import { performance } from 'node:perf_hooks';
import { onNextRound } from '../../../../application/concurrency/next-round.ts';
import { RoundTime } from '../../../../application/concurrency/round-time.ts';
import { PausingRounds, type RoundTask } from './pausing-rounds.ts';

/** No round counts as longer, in milliseconds: what is read behind it would make the next one longer still. */
const ROUND_MS_MAX = 50;

interface FairReadingOptions {
  /** The milliseconds of a round; in one with 0 nothing that waits is read. */
  readonly msMax: () => number;
  /** What waits and may be read in one round: what it takes is not known when it begins. */
  readonly perRound: number;
  /** What may be read in a longer round: so much for each millisecond of the round before. None by default. */
  readonly perMs?: number;
  /** After a round in which reading took more than it has, all reading pauses, so that it takes this share of the time. */
  readonly share: number;
}

/**
 * Lets what clients send be read while a round of the event loop has time for it and nothing waits, and then a few pieces in a
 * round, alternately by address in rotation and by time: however many clients connect or send long bodies, wanted or not, other
 * work is done in between.
 */
export class FairReading {
  readonly #options: FairReadingOptions;
  readonly #time: RoundTime;
  readonly #rounds: PausingRounds;
  /** Whether the last one was taken by time. */
  #isByTime = true;
  /** Of this round: when something was read first, and last. Null when nothing was. */
  #firstAt: number | null = null;
  #lastAt = 0;
  /** When the last round began in which something could be read, or since when something waits. */
  #roundBeganAt = 0;

  constructor(options: FairReadingOptions) {
    this.#options = options;
    this.#time = new RoundTime(options.msMax, () => performance.now());
    this.#rounds = new PausingRounds(options.share, () => this.#serve());
  }

  /** Whether the next piece of a client in `network` may follow at once. If not, `reader` is served when it may. */
  mayGoOn(network: string, reader: RoundTask): boolean {
    const { waiting, isPaused } = this.#rounds;
    if (waiting.isEmpty && !isPaused && this.#time.isLeft()) return true;
    if (waiting.isEmpty) this.#roundBeganAt = performance.now();
    this.#rounds.add(network, reader);
    return false;
  }

  /** The client is gone. Does nothing when its reader does not wait. */
  drop(reader: RoundTask): void {
    this.#rounds.waiting.drop(reader);
  }

  /** A part of a piece was read: the time from the first part in a round to the last one counts. */
  noteRead(): void {
    this.#lastAt = performance.now();
    if (this.#firstAt !== null) return;
    this.#firstAt = this.#lastAt;
    onNextRound(() => this.#endRound());
  }

  #endRound(): void {
    const ms = this.#lastAt - (this.#firstAt ?? this.#lastAt);
    this.#firstAt = null;
    if (ms > this.#options.msMax()) this.#rounds.pauseBehind(ms, this.#lastAt);
  }

  #serve(): void {
    if (this.#options.msMax() === 0 || this.#rounds.isPaused) return;
    for (let left = this.#pieces(); left > 0; left -= 1) this.#next()?.serveNext();
  }

  /** How much may be read in this round. */
  #pieces(): number {
    const { perRound, perMs = 0 } = this.#options;
    const now = performance.now();
    const roundMs = Math.min(now - this.#roundBeganAt, ROUND_MS_MAX);
    this.#roundBeganAt = now;
    return Math.max(perRound, Math.floor(roundMs * perMs));
  }

  /** By address in rotation and by time, alternately: one address with many clients waits for few, as do many addresses. */
  #next(): RoundTask | undefined {
    this.#isByTime = !this.#isByTime;
    const { waiting } = this.#rounds;
    return this.#isByTime ? waiting.takeOldest() : waiting.take();
  }
}
