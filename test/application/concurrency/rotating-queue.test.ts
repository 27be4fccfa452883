import { beforeEach, expect, it } from 'vitest';
import { RotatingQueue } from '../../../src/application/concurrency/rotating-queue.ts';

let queue: RotatingQueue<string>;

beforeEach(() => {
  queue = new RotatingQueue();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1']) queue.add(item.charAt(0), item);
});

const rest = (take: () => string | undefined) => {
  const taken: string[] = [];
  for (let next = take(); next !== undefined; next = take()) taken.push(next);
  return taken;
};

it('items are taken round-robin over the keys, and in order within each', () => {
  expect(rest(() => queue.take())).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  expect(queue.isEmpty).toBe(true);
});

it('what has waited longest is taken under whatever key, and not again', () => {
  expect([queue.take(), queue.takeOldest(), queue.take(), queue.takeOldest()]).toEqual([
    'a1',
    'a2',
    'b1',
    'a3',
  ]);
  expect([queue.isEmpty, queue.take(), queue.isEmpty, queue.takeOldest()]).toEqual([
    false,
    'c1',
    true,
    undefined,
  ]);
});

it('a rotating queue tells how many wait, in all and under a key', () => {
  queue.addFirst('a', 'a0');
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b'), queue.sizeOf('d')]).toEqual([6, 4, 1, 0]);
  expect(queue.take()).toBe('a0');
  queue.drop('b1');
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b')]).toEqual([4, 3, 0]);
});

it('what waits already is not added again, under no other key either', () => {
  for (const key of ['a', 'c']) queue.add(key, 'a1');
  expect(rest(() => queue.take())).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
});

it('what is dropped waits no longer, and what does not wait is dropped without effect', () => {
  for (const item of ['a1', 'b1', 'b1', 'x']) queue.drop(item);
  expect(rest(() => queue.take())).toEqual(['a2', 'c1', 'a3']);
});

it('what is added first goes before the others of its key, and brings no key before another', () => {
  for (const item of ['b0', 'b0', 'd0', 'd0']) queue.addFirst(item.charAt(0), item);
  expect(rest(() => queue.take())).toEqual(['a1', 'b0', 'c1', 'd0', 'a2', 'b1', 'a3']);
  expect(queue.isEmpty).toBe(true);
});

it('what was added first is dropped, and taken with all the others, as they are', () => {
  for (const item of ['b0', 'd0', 'e0']) queue.addFirst(item.charAt(0), item);
  for (const item of ['b0', 'd0', 'd0']) queue.drop(item);
  expect(queue.takeAll()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'e0']);
  queue.add('e', 'e1');
  expect(rest(() => queue.take())).toEqual(['e1']);
});
