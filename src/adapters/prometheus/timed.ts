import { performance } from 'node:perf_hooks';
import { millisecondsInSecond } from 'date-fns/constants';

/** Does `work`, and tells how many seconds it took and whether it failed. Rejects as `work` does. */
export async function timed<T>(
  work: () => Promise<T>,
  tell: (seconds: number, error: { readonly error: unknown } | null) => void,
): Promise<T> {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / millisecondsInSecond;
  try {
    const result = await work();
    tell(seconds(), null);
    return result;
  } catch (error) {
    tell(seconds(), { error });
    throw error;
  }
}
