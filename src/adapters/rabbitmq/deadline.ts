import { clearTimeout, setTimeout } from 'node:timers';
/** Settles as `promise` does, or rejects with `reason` once `limitMs` milliseconds have passed. */
export async function withDeadline<T>(promise: Promise<T>, limitMs: number, reason: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(reason)), limitMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
