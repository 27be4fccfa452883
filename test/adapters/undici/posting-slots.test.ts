import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type InLine, PostingSlots } from '../../../src/adapters/undici/posting-slots.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Says in one line what everybody was told, in the order they were. */
class Told {
  readonly lines: string[] = [];
  readonly as = (name: string): InLine => ({
    proceed: (isTaken) => {
      this.lines.push(`${name} ${isTaken}`);
    },
  });
}

/** The one slot is taken, one waits for 600 ms already, and one begins to wait; each waits for a second at most. */
function lineOfThree() {
  const slots = new PostingSlots(1, 1_000);
  const told = new Told();
  slots.take('a', told.as('first'));
  slots.take('a', told.as('early'));
  vi.advanceTimersByTime(600);
  slots.take('a', told.as('late'));
  return { slots, told };
}

it('has so many slots for each key, and hands them on first come first served', () => {
  const slots = new PostingSlots(2, 1_000);
  const told = new Told();
  for (const name of ['a1', 'a2', 'b1', 'a3', 'a4']) slots.take(name.charAt(0), told.as(name));
  expect(told.lines).toEqual(['a1 true', 'a2 true', 'b1 true']);
  slots.give('b');
  expect(told.lines).toHaveLength(3);
  slots.give('a');
  slots.give('a');
  expect(told.lines.slice(3)).toEqual(['a3 true', 'a4 true']);
});

it('tells those who waited too long, once, and passes them over', () => {
  const { slots, told } = lineOfThree();
  vi.advanceTimersByTime(400);
  expect(told.lines).toEqual(['first true', 'early false']);
  slots.give('a');
  expect(told.lines.slice(2)).toEqual(['late true']);
  vi.advanceTimersByTime(10_000);
  slots.give('a');
  slots.take('a', told.as('next'));
  expect(told.lines.slice(3)).toEqual(['next true']);
});

it('tells everybody in line in their own time, and leaves no timer behind', () => {
  const { slots, told } = lineOfThree();
  vi.advanceTimersByTime(999);
  expect(told.lines).toEqual(['first true', 'early false']);
  vi.advanceTimersByTime(1);
  expect(told.lines).toEqual(['first true', 'early false', 'late false']);
  slots.take('a', told.as('last'));
  slots.give('a');
  slots.give('a');
  expect(told.lines.slice(3)).toEqual(['last true']);
  expect(vi.getTimerCount()).toBe(0);
});

it('passes over those whose time is over although no timer said so yet, as after a pause of the process', () => {
  const slots = new PostingSlots(1, 1_000);
  const told = new Told();
  slots.take('a', told.as('first'));
  slots.take('a', told.as('second'));
  const later = performance.now() + 1_000;
  vi.spyOn(performance, 'now').mockReturnValue(later);
  slots.take('a', told.as('third'));
  slots.give('a');
  expect(told.lines).toEqual(['first true', 'second false', 'third true']);
  vi.restoreAllMocks();
});

it('serves a line that is never empty in order, however long it was', () => {
  const slots = new PostingSlots(1, 1_000);
  const told = new Told();
  const count = 5_000;
  slots.take('a', { proceed: () => {} });
  slots.take('a', told.as('0'));
  for (let at = 1; at < count; at += 1) {
    slots.take('a', told.as(String(at)));
    slots.give('a');
  }
  expect(told.lines).toEqual(Array.from({ length: count - 1 }, (_, at) => `${at} true`));
});

it('has all slots free again once they were given back', () => {
  const slots = new PostingSlots(1, 1_000);
  const told = new Told();
  for (let at = 0; at < 3; at += 1) {
    slots.take('a', told.as('a'));
    expect(told.lines).toHaveLength(at + 1);
    slots.give('a');
  }
});
