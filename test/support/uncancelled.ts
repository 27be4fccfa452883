import type { Timeout } from '../../src/application/ports/timeout.ts';

/** A timeout that nobody cancels; `begin` keeps the call, or makes it. */
export function uncancelled(begin: (expired: () => void) => unknown): Timeout {
  return (expired) => {
    begin(expired);
    return () => {};
  };
}
