import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { vi } from 'vitest';

/** From now on timeouts and intervals wait for the test, which moves them with `vi.advanceTimersByTime`. */
export function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  takeOverTimers();
}

/** Timers run by themselves again. Those that were held stay so. */
export function runTimers(): void {
  vi.useRealTimers();
  takeOverTimers();
}

/** The sources import their timers from `node:timers`, where vitest does not replace them. */
function takeOverTimers(): void {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  Object.assign(timers, { setTimeout, clearTimeout, setInterval, clearInterval });
  syncBuiltinESMExports();
}
