import { setTimeout } from 'node:timers';
import type { Delay } from '../../application/ports/delay.ts';

/** A delay by the timers of the process, also when the service's own clock is moved by hand. */
export function timedDelay(ms: number): Delay {
  return (over) => {
    setTimeout(over, ms);
  };
}
