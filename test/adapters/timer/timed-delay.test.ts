import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { timedDelay } from '../../../src/adapters/timer/timed-delay.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('is over after its time, once', () => {
  const over = vi.fn();
  timedDelay(20)(over);
  vi.advanceTimersByTime(19);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(over).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  expect(over).toHaveBeenCalledTimes(1);
});
