import { vi } from 'vitest';

/** Longer than anything takes that a test waits for, on a machine that is busy with other things. */
const UNTIL_MS_MAX = 20_000;

/** Resolves with the first result of `check` that is truthy; asks now and then, and rejects when none comes. */
export function until<Result>(check: () => Result | Promise<Result>) {
  return vi.waitUntil(check, { timeout: UNTIL_MS_MAX });
}
