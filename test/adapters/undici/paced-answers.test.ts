import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ANSWERS_HELD_MAX,
  ANSWERS_PACE_MS,
  PacedAnswers,
} from '../../../src/adapters/undici/paced-answers.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Answers and the order in which they were let go. */
function given(count: number) {
  const paced = new PacedAnswers();
  const gone: number[] = [];
  const come = (from: number, to: number) => {
    for (let number = from; number <= to; number += 1) void paced.turn().then(() => gone.push(number));
    return vi.advanceTimersByTimeAsync(0);
  };
  return { gone, come, first: come(1, count) };
}

describe('answers', () => {
  it('go at once one by one, and together when many come', async () => {
    const { gone, come, first } = given(3);
    await first;
    expect(gone).toEqual([1]);
    await vi.advanceTimersByTimeAsync(ANSWERS_PACE_MS - 1);
    await come(4, 4);
    expect(gone).toEqual([1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(gone).toEqual([1, 2, 3, 4]);
    await come(5, 5);
    expect(gone).toEqual([1, 2, 3, 4]);
    await vi.advanceTimersByTimeAsync(ANSWERS_PACE_MS);
    expect(gone).toEqual([1, 2, 3, 4, 5]);
    await vi.advanceTimersByTimeAsync(ANSWERS_PACE_MS);
    await come(6, 6);
    expect(gone).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('do not wait when there are enough for one transaction', async () => {
    const { gone, first } = given(1 + ANSWERS_HELD_MAX);
    await first;
    expect(gone).toHaveLength(1 + ANSWERS_HELD_MAX);
  });

  it('leave no timer behind', async () => {
    await given(3).first;
    await vi.advanceTimersByTimeAsync(10 * ANSWERS_PACE_MS);
    expect(vi.getTimerCount()).toBe(0);
  });
});
