/**
 * Runs `work` in the next round of the event loop. Taken when this module is loaded: a test runner that replaces the
 * timers of its process with fake ones does not stop the service that runs inside it.
 */
export const onNextRound: (work: () => void) => unknown = globalThis.setImmediate;

/** Resolves after the event loop served what else waits. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => {
    onNextRound(resolve);
  });
}
