/**
 * Runs `work` in the next round of the event loop. The function is taken when this module is loaded. So a test runner that
 * replaces the timers of its process with fake ones does not stop the service inside it.
 */
export const onNextRound: (work: () => void) => unknown = globalThis.setImmediate;

/** Resolves after the event loop served what else waits. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => {
    onNextRound(resolve);
  });
}
