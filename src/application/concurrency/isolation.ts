import type { Clock } from '../ports/clock.ts';

/**
 * How long a project stays isolated after its last lock, in milliseconds. Without that time, a lock that comes and goes would
 * hold the others up again and again.
 */
export const ISOLATION_MS = 2_000;

/** What is known of the locks of an isolated project. It begins as locked. */
export class Isolation {
  readonly #clock: Clock;
  #isLocked = true;
  /** When a lock was there last, by the clock. */
  #lockedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lockedAt = clock.now();
  }

  /** Whether nothing has succeeded since a lock was met. */
  get isLocked(): boolean {
    return this.#isLocked;
  }

  /** Whether the time of the isolation is over, also when the clock was put back. */
  get isOver(): boolean {
    return Math.abs(this.#clock.now() - this.#lockedAt) >= ISOLATION_MS;
  }

  meetLock(): void {
    this.#isLocked = true;
    this.#lockedAt = this.#clock.now();
  }

  /** Notes that something has succeeded: a lock that was there is gone since now. */
  succeed(): void {
    if (!this.#isLocked) return;
    this.#isLocked = false;
    this.#lockedAt = this.#clock.now();
  }
}
