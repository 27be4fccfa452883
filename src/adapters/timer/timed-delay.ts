import { setTimeout } from 'node:timers';
import type { Delay } from '../../application/ports/delay.ts';

/** A pause by the process clock, also where the service's own clock is moved by hand. */
export function timedDelay(ms: number): Delay {
  return (over) => {
    setTimeout(over, ms);
  };
}
