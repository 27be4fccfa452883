import type { Clock } from '../../application/ports/clock.ts';

/** The machine's time. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }
}
