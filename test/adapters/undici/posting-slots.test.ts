import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PostingSlots } from '../../../src/adapters/undici/posting-slots.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('has so many slots for each key, and hands them on first come first served', async () => {
  const slots = new PostingSlots(2, 1_000);
  expect([slots.take('a'), slots.take('a'), slots.take('b')]).toEqual([true, true, true]);
  const order: string[] = [];
  const first = Promise.resolve(slots.take('a')).then(() => order.push('first'));
  const second = Promise.resolve(slots.take('a')).then(() => order.push('second'));
  slots.give('a');
  await first;
  expect(order).toEqual(['first']);
  slots.give('a');
  await second;
  expect(order).toEqual(['first', 'second']);
});

it('tells those who waited too long, and passes them over', async () => {
  const slots = new PostingSlots(1, 1_000);
  slots.take('a');
  const early = slots.take('a');
  await vi.advanceTimersByTimeAsync(600);
  const late = slots.take('a');
  await vi.advanceTimersByTimeAsync(400);
  expect(await early).toBe(false);
  slots.give('a');
  expect(await late).toBe(true);
});

it('has all slots free again once they were given back', () => {
  const slots = new PostingSlots(1, 1_000);
  for (let at = 0; at < 3; at += 1) {
    expect(slots.take('a')).toBe(true);
    slots.give('a');
  }
});
