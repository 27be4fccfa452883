import type { Pause } from '../../application/ports/pause.ts';

/** A pause by the process clock, also where the service's own clock is moved by hand. */
export function timedPause(ms: number): Pause {
  return (over) => {
    setTimeout(over, ms);
  };
}
