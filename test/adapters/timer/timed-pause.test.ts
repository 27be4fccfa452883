import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { timedPause } from '../../../src/adapters/timer/timed-pause.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('is over after its time, once', () => {
  const over = vi.fn();
  timedPause(20)(over);
  vi.advanceTimersByTime(19);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(over).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  expect(over).toHaveBeenCalledTimes(1);
});
