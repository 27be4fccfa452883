/** What the client knows of time. A test may bring a clock that it moves. */
export interface ClientClock {
  /** Milliseconds since some fixed instant. */
  now(): number;
  /** Resolves after that many milliseconds; rejects with the signal's reason when it is aborted before. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: ClientClock = {
  now: () => Date.now(),
  delay: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const end = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end);
        resolve();
      }, ms);
      signal?.addEventListener('abort', end, { once: true });
    }),
};

/** Between a half and the whole of it, so that clients which failed together do not come back together. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
