import { expect, it } from 'vitest';
import { PriorityQueue } from '../../../src/application/concurrency/priority-queue.ts';
import type { JobPriority } from '../../../src/domain/jobs/job-priority.ts';

interface Item {
  readonly name: string;
  readonly backlog: { readonly priority: JobPriority; readonly projectId: string };
}

const item = (projectId: string, priority: JobPriority = 'code', name = projectId): Item => ({
  name,
  backlog: { priority, projectId },
});

const queueOf = (...items: readonly Item[]): PriorityQueue<Item> => {
  const queue = new PriorityQueue<Item>();
  for (const each of items) queue.add(each);
  return queue;
};

const taken = (queue: PriorityQueue<Item>, count: number): string =>
  Array.from({ length: count }, () => queue.take()?.name ?? '-').join('');

const many = (count: number, projectId: string, priority: JobPriority = 'code'): readonly Item[] =>
  Array.from({ length: count }, () => item(projectId, priority));

it('a priority queue without items gives null', () => {
  expect(new PriorityQueue<Item>().take()).toBeNull();
});

it('a priority queue gives the items of one project in the order they came', () => {
  const names = ['1', '2', '3', '4'].map((name) => item('A', 'code', name));
  expect(taken(queueOf(...names), 5)).toBe('1234-');
});

it('a priority queue serves projects in rotation, however many items each has', () => {
  const queue = queueOf(...many(5, 'A', 'code'), ...many(2, 'B', 'code'), item('C'));
  expect(taken(queue, 9)).toBe('ABCABAAA-');
});

it('an item of a project that comes late waits for one item of each other project', () => {
  const queue = queueOf(...many(100, 'A', 'code'), ...many(100, 'B', 'code'));
  expect(taken(queue, 3)).toBe('ABA');
  queue.add(item('C'));
  expect(taken(queue, 4)).toBe('BACB');
});

it('a priority queue gives codes before texts, and those before campaigns, but for one in ten of each', () => {
  const queue = queueOf(...many(40, 'g', 'campaign'), ...many(40, 't', 'text'), ...many(40, 'c', 'code'));
  expect(taken(queue, 22)).toBe('ccccccccctgcccccccctgc');
});

it('a lower priority gets one in ten although its items never wait for as long as that takes', () => {
  const queue = queueOf(...many(40, 'c', 'code'));
  const names = Array.from({ length: 20 }, () => {
    const text = item('t', 'text');
    queue.add(text);
    const { name } = queue.take() ?? text;
    queue.drop(text);
    return name;
  });
  expect(names.join('')).toBe('ccccccccctccccccccct');
});

it('a priority that is blocked takes nothing from those below it', () => {
  const queue = queueOf(...many(40, 'g', 'campaign'), ...many(40, 't', 'text'), ...many(40, 'c', 'code'));
  const names = Array.from({ length: 20 }, () => queue.take(({ name }) => name !== 't')?.name ?? '-');
  expect(names.join('')).toBe('cccccccccgcccccccccg');
});

it('a priority queue gives everything to a lower priority that is alone', () => {
  expect(taken(queueOf(...many(12, 'g', 'campaign')), 13)).toBe('gggggggggggg-');
});

it('a deleted item is not given, and deleting it again changes nothing', () => {
  const [first, second] = [item('A', 'code', '1'), item('A', 'code', '2')];
  const queue = queueOf(first, second, item('B'));
  queue.drop(first);
  queue.drop(first);
  expect(taken(queue, 3)).toBe('2B-');
});

it('items that are added first go before the others of their project and priority, in rotation with other projects', () => {
  const queue = queueOf(...many(2, 'A', 'text'), ...many(2, 'B', 'text'), item('C'));
  for (const name of ['1', '2']) queue.addFirst(item('A', 'text', name));
  queue.addFirst(item('D', 'text', '3'));
  expect(taken(queue, 9)).toBe('C1B32BAA-');
});

it('while the next item of a project may not be taken, a priority queue serves other projects and priorities', () => {
  const queue = queueOf(
    ...many(2, 'A', 'code'),
    item('B'),
    item('A', 'text', 't'),
    item('C', 'campaign', 'g'),
  );
  const next = () =>
    queue.take(({ backlog, name }) => backlog.projectId !== 'A' || name === 't')?.name ?? '-';
  expect([next(), next(), next(), next()].join('')).toBe('Btg-');
  expect(taken(queue, 3)).toBe('AA-');
});

it('an item that was added first is dropped like the others', () => {
  const [first, second] = [item('A', 'code', '1'), item('A', 'code', '2')];
  const queue = queueOf(second);
  queue.addFirst(first);
  queue.drop(first);
  expect(taken(queue, 2)).toBe('2-');
});

it('a priority queue that gave all of its items at once is empty', () => {
  const queue = queueOf(item('A'), item('B', 'text'), item('A', 'campaign', 'G'));
  expect(queue.takeAll().map(({ name }) => name)).toEqual(['A', 'B', 'G']);
  expect(queue.take()).toBeNull();
});

it('a priority queue tells how many items wait, and how many of a backlog', () => {
  const queue = queueOf(...many(2, 'A'), item('A', 'text'), item('B'));
  queue.addFirst(item('A'));
  expect([queue.size, queue.isEmpty]).toEqual([5, false]);
  expect(queue.sizeOf({ priority: 'code', projectId: 'A' })).toBe(3);
  expect(queue.sizeOf({ priority: 'campaign', projectId: 'A' })).toBe(0);
  queue.takeAll();
  expect([queue.size, queue.isEmpty]).toEqual([0, true]);
});

it('a priority queue tells whether anything more urgent than a priority waits', () => {
  const before = (queue: PriorityQueue<Item>) =>
    (['code', 'text', 'campaign'] as const).map((priority) => queue.hasBefore(priority));
  expect(before(queueOf())).toEqual([false, false, false]);
  expect(before(queueOf(item('A', 'text')))).toEqual([false, false, true]);
  const queue = queueOf(item('A', 'code'), item('A', 'campaign'));
  expect(before(queue)).toEqual([false, true, true]);
  queue.take();
  expect(before(queue)).toEqual([false, false, false]);
});
