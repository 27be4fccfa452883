import { clearTimeout, setTimeout } from 'node:timers';
import type { Timeout } from '../../application/ports/timeout.ts';

/** A timeout after `ms` milliseconds of the process clock, also where the service's own clock is moved by hand. */
export function timedTimeout(ms: number): Timeout {
  return (expired) => {
    const timer = setTimeout(expired, ms);
    return () => clearTimeout(timer);
  };
}
