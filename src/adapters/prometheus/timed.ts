import { performance } from 'node:perf_hooks';
import { millisecondsInSecond } from 'date-fns/constants';

/** Does `work`, and tells how many seconds it took and its result, null when it failed. Rejects as `work` does. */
export async function timed<T>(
  work: () => Promise<T>,
  tell: (seconds: number, done: { readonly result: T } | null) => void,
): Promise<T> {
  const startedAt = performance.now();
  let done: { readonly result: T } | null = null;
  try {
    const result = await work();
    done = { result };
    return result;
  } finally {
    tell((performance.now() - startedAt) / millisecondsInSecond, done);
  }
}
