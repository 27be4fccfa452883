import { StorageLocked } from '../errors/storage-locked.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import { InFlight } from './in-flight.ts';
import { RotatingQueue } from './rotating-queue.ts';

/** Work that meets a lock is tried again for so long, in milliseconds: by then a process that stopped has lost its locks. */
export const LOCKED_WORK_MS = 10_000;

/** Between two tries, in milliseconds: the tries of one key take a quarter of a place of all. */
export const LOCK_RETRY_MS = 1_000;

interface GateMaxima {
  readonly perKey: number;
  readonly all: number;
}

/** What a gate needs to try work again that met a lock. */
export interface LockRetries {
  /** Measures `LOCKED_WORK_MS`. */
  readonly clock: Clock;
  readonly pause: Delay;
}

interface Waiting {
  /** Whether it has its place among those of its key already. */
  readonly hasPlaceOfKey: boolean;
  readonly letThrough: () => void;
}

/**
 * Lets a few pieces of work run at a time, of each key and of all; the others wait, round-robin over the keys. With
 * `lockRetries`, work that rejects with `StorageLocked` pauses, and is run again. While it pauses it takes none of the places of
 * all: a lock of one key holds up no other. Such work waits briefly for locks itself, and stores nothing when it met one.
 */
export class FairGate {
  readonly #ofKeys: InFlight;
  readonly #runningMax: number;
  readonly #lockRetries: LockRetries | null;
  #running = 0;
  readonly #waiting = new RotatingQueue<Waiting>();

  constructor({ perKey, all }: GateMaxima, lockRetries: LockRetries | null = null) {
    this.#ofKeys = new InFlight({ perKey });
    this.#runningMax = all;
    this.#lockRetries = lockRetries;
  }

  /** Runs the work as soon as it is let through. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(key, false);
    try {
      return await this.#runUntilUnlocked(key, work);
    } finally {
      this.#ofKeys.end(key);
      this.#leave();
    }
  }

  async #runUntilUnlocked<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#lockRetries === null) return work();
    const { clock, pause } = this.#lockRetries;
    const end = clock.now() + LOCKED_WORK_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StorageLocked) || clock.now() >= end) throw error;
      }
      this.#leave();
      await new Promise<void>((resolve) => pause(resolve));
      await this.#enter(key, true);
    }
  }

  /** Nobody who waits is passed over: their keys, or all, have as many as they may. */
  async #enter(key: string, hasPlaceOfKey: boolean): Promise<void> {
    if (this.#tryEnter(key, hasPlaceOfKey)) return;
    await new Promise<void>((letThrough) => {
      const waiting = { hasPlaceOfKey, letThrough };
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

  /** Where one has left, another one may enter. */
  #leave(): void {
    this.#running -= 1;
    this.#waiting.take((key, { hasPlaceOfKey }) => this.#tryEnter(key, hasPlaceOfKey))?.letThrough();
  }
}
