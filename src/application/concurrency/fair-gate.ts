import { StorageLocked } from '../errors/storage-locked.ts';
import { StorageAway } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timeout } from '../ports/timeout.ts';
import { LONG_LOCK_WAIT_MS } from '../ports/unit-of-work.ts';
import { InFlight } from './in-flight.ts';
import { RotatingQueue } from './rotating-queue.ts';

/** The time between two tries of a locked key, in milliseconds: the tries take a fifth of a place of all. */
export const GATE_LOCK_RETRY_MS = 1_000;

interface GateMaxima {
  readonly perKey: number;
  readonly all: number;
}

/**
 * Work that fails because the database is away has met a database that hangs when it took this long, in milliseconds. Work at the
 * gate would wait as long, and then fail alike.
 */
export const HANGING_WORK_MS = 2_000;

interface GateOptions {
  /** Measures `LONG_LOCK_WAIT_MS` and `HANGING_WORK_MS`. */
  readonly clock: Clock;
  /** The wait between two tries of work that met a lock. Without it there is one try. */
  readonly lockRetryDelay?: Timeout;
}

interface Entry {
  readonly key: string;
  /** Whether it has its place among those of its key already. */
  readonly hasPlaceOfKey: boolean;
  /** Whether it is the work that tries if the lock of its key is still there. */
  readonly isProbe: boolean;
}

interface Waiting extends Entry {
  readonly letThrough: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets a few pieces of work run at a time, of each key and of all; the others wait, round-robin over the keys. With
 * `lockRetryDelay`, work that rejects with `StorageLocked` is run again after that delay. Other work of its key waits until it is
 * done. Meanwhile none of this work takes a place of all: a lock of one key holds up no other. Such work has to wait briefly for
 * locks itself, and to store nothing when it met one. When the database hangs, work at the gate is rejected together with the
 * work that waited for the database.
 */
export class FairGate {
  readonly #ofKeys: InFlight;
  readonly #runningMax: number;
  readonly #clock: Clock;
  readonly #lockRetryDelay: Timeout | null;
  /** Keys with a piece of work, the probe, that has met a lock and is not done. */
  readonly #locked = new Set<string>();
  #running = 0;
  readonly #waiting = new RotatingQueue<Waiting>();

  constructor({ perKey, all }: GateMaxima, { clock, lockRetryDelay }: GateOptions) {
    this.#ofKeys = new InFlight({ perKey });
    this.#runningMax = all;
    this.#clock = clock;
    this.#lockRetryDelay = lockRetryDelay ?? null;
  }

  /** Whether all places are taken, and work waits. */
  get isCrowded(): boolean {
    return this.#running >= this.#runningMax && !this.#waiting.isEmpty;
  }

  /** Runs the work as soon as it is let through. When `signal` aborts before, it waits no longer and rejects with the reason. */
  async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.#enter({ key, hasPlaceOfKey: false, isProbe: false }, signal);
    const end = this.#clock.now() + LONG_LOCK_WAIT_MS;
    let isInside = true;
    let isProbe = false;
    try {
      for (;;) {
        const outcome = await this.#tryWork(work, end);
        if (outcome !== null) return outcome.result;
        isProbe ||= !this.#locked.has(key);
        this.#locked.add(key);
        isInside = false;
        this.#leave();
        if (isProbe) await new Promise<void>((resolve) => this.#lockRetryDelay?.(resolve));
        await this.#enter({ key, hasPlaceOfKey: true, isProbe });
        isInside = true;
      }
    } finally {
      if (isProbe) this.#locked.delete(key);
      this.#ofKeys.end(key);
      if (isInside) this.#leave();
      else this.#letThrough();
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
      if (error instanceof StorageLocked && this.#lockRetryDelay !== null && now < end) return null;
      if (error instanceof StorageAway && now - beganAt >= HANGING_WORK_MS) this.#rejectWaiting(error);
      throw error;
    }
  }

  #rejectWaiting(error: StorageAway): void {
    for (const { reject } of this.#waiting.takeAll()) reject(error);
  }

  /** Work that enters passes over none that waits: their key or the gate has as many as it may, or their key is locked. */
  async #enter(entry: Entry, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#tryEnter(entry)) return;
    let leave = (): void => {};
    try {
      await new Promise<void>((letThrough, reject) => {
        const waiting = { ...entry, letThrough, reject };
        leave = () => {
          this.#waiting.drop(waiting);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', leave);
        // A probe waits apart: what waits for it must not stand before it.
        const queue = entry.isProbe ? `${entry.key} locked` : entry.key;
        if (entry.hasPlaceOfKey) this.#waiting.addFirst(queue, waiting);
        else this.#waiting.add(queue, waiting);
      });
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  #tryEnter({ key, hasPlaceOfKey, isProbe }: Entry): boolean {
    if (this.#running >= this.#runningMax || (this.#locked.has(key) && !isProbe)) return false;
    if (!hasPlaceOfKey && !this.#ofKeys.tryBegin(key)) return false;
    this.#running += 1;
    return true;
  }

  #leave(): void {
    this.#running -= 1;
    this.#letThrough();
  }

  /** Lets others enter where work has left, has given up the place of its key, or has found its key unlocked. */
  #letThrough(): void {
    // A full gate asks nobody: all that wait may be of other keys.
    while (this.#running < this.#runningMax) {
      const next = this.#waiting.take((_, waiting) => this.#tryEnter(waiting));
      if (next === undefined) return;
      next.letThrough();
    }
  }
}
