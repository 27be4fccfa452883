import { StorageLocked } from '../errors/storage-locked.ts';
import { StorageAway } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import { InFlight } from './in-flight.ts';
import { RotatingQueue } from './rotating-queue.ts';

/** Work that meets a lock is tried again for so long, in milliseconds: by then a process that stopped has lost its locks. */
export const LOCKED_WORK_MS = 10_000;

/** Between two tries, in milliseconds: the tries of one piece of work take a fifth of a place of all. */
export const LOCK_RETRY_MS = 1_000;

interface GateMaxima {
  readonly perKey: number;
  readonly all: number;
}

/**
 * Work that the database was away for after so long, in milliseconds, waited for a database that hangs: what waits at the gate
 * would wait as long, and then be rejected alike.
 */
export const HANGING_WORK_MS = 2_000;

interface GateOptions {
  /** Measures `LOCKED_WORK_MS` and `HANGING_WORK_MS`. */
  readonly clock: Clock;
  /** Between two tries of work that met a lock; without it there is one. */
  readonly lockPause?: Delay;
}

interface Waiting {
  /** Whether it has its place among those of its key already. */
  readonly hasPlaceOfKey: boolean;
  readonly letThrough: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets a few pieces of work run at a time, of each key and of all; the others wait, round-robin over the keys. With `lockPause`,
 * work that rejects with `StorageLocked` pauses, and is run again. While it pauses it takes none of the places of all: a lock of
 * one key holds up no other. Such work waits briefly for locks itself, and stores nothing when it met one. When the database
 * hangs, what waits is rejected with the work that waited for it.
 */
export class FairGate {
  readonly #ofKeys: InFlight;
  readonly #runningMax: number;
  readonly #clock: Clock;
  readonly #lockPause: Delay | null;
  #running = 0;
  readonly #waiting = new RotatingQueue<Waiting>();

  constructor({ perKey, all }: GateMaxima, { clock, lockPause }: GateOptions) {
    this.#ofKeys = new InFlight({ perKey });
    this.#runningMax = all;
    this.#clock = clock;
    this.#lockPause = lockPause ?? null;
  }

  /** Runs the work as soon as it is let through. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(key, false);
    let isInside = true;
    try {
      const end = this.#clock.now() + LOCKED_WORK_MS;
      for (;;) {
        const outcome = await this.#tryWork(work, end);
        if (outcome !== null) return outcome.result;
        isInside = false;
        this.#leave();
        await new Promise<void>((resolve) => this.#lockPause?.(resolve));
        await this.#enter(key, true);
        isInside = true;
      }
    } finally {
      this.#ofKeys.end(key);
      if (isInside) this.#leave();
      else this.#letNextThrough();
    }
  }

  /** Null when the work met a lock, and may be tried again. */
  async #tryWork<Result>(
    work: () => Promise<Result>,
    end: number,
  ): Promise<{ readonly result: Result } | null> {
    const beganAt = this.#clock.now();
    try {
      return { result: await work() };
    } catch (error) {
      const now = this.#clock.now();
      if (error instanceof StorageLocked && this.#lockPause !== null && now < end) return null;
      if (error instanceof StorageAway && now - beganAt >= HANGING_WORK_MS) this.#rejectWaiting(error);
      throw error;
    }
  }

  #rejectWaiting(error: StorageAway): void {
    for (const { reject } of this.#waiting.takeAll()) reject(error);
  }

  /** Nobody who waits is passed over: their keys, or all, have as many as they may. */
  async #enter(key: string, hasPlaceOfKey: boolean): Promise<void> {
    if (this.#tryEnter(key, hasPlaceOfKey)) return;
    await new Promise<void>((letThrough, reject) => {
      const waiting = { hasPlaceOfKey, letThrough, reject };
      if (hasPlaceOfKey) this.#waiting.addFirst(key, waiting);
      else this.#waiting.add(key, waiting);
    });
  }

  #tryEnter(key: string, hasPlaceOfKey: boolean): boolean {
    if (this.#running >= this.#runningMax) return false;
    if (!hasPlaceOfKey && !this.#ofKeys.tryBegin(key)) return false;
    this.#running += 1;
    return true;
  }

  #leave(): void {
    this.#running -= 1;
    this.#letNextThrough();
  }

  /** Where one has left, or has given up the place of its key, another one may enter. */
  #letNextThrough(): void {
    this.#waiting.take((key, { hasPlaceOfKey }) => this.#tryEnter(key, hasPlaceOfKey))?.letThrough();
  }
}
