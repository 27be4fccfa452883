import type { Clock } from '../../application/ports/clock.ts';

/** A clock that stands still until it is moved. */
export class MovableClock implements Clock {
  #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  moveTo(instant: number): void {
    this.#now = instant;
  }
}
