import { expect, it } from 'vitest';
import { FairQueue } from '../../../src/application/concurrency/fair-queue.ts';
import type { JobPriority } from '../../../src/domain/jobs/job-priority.ts';
import { SLOW_AFTER_MS } from '../../../src/domain/messages/submission-share.ts';

interface Item {
  readonly name: string;
  readonly backlog: { readonly priority: JobPriority; readonly projectId: string };
}

const item = (projectId: string, priority: JobPriority = 'code', name = projectId): Item => ({
  name,
  backlog: { priority, projectId },
});

const queueOf = (...items: readonly Item[]): FairQueue<Item> => {
  const queue = new FairQueue<Item>(() => 0);
  for (const each of items) queue.add(each);
  return queue;
};

const taken = (queue: FairQueue<Item>, count: number): string =>
  Array.from({ length: count }, () => queue.take(1)?.name ?? '-').join('');

const many = (count: number, projectId: string, priority: JobPriority = 'code'): readonly Item[] =>
  Array.from({ length: count }, () => item(projectId, priority));

it('a fair queue without items gives null', () => {
  expect(new FairQueue<Item>(() => 0).take(1)).toBeNull();
});

it('a fair queue gives the items of one project in the order they came', () => {
  const names = ['1', '2', '3', '4'].map((name) => item('A', 'code', name));
  expect(taken(queueOf(...names), 5)).toBe('1234-');
});

it('a fair queue serves projects in rotation, however many items each has', () => {
  const queue = queueOf(...many(5, 'A', 'code'), ...many(2, 'B', 'code'), item('C'));
  expect(taken(queue, 9)).toBe('ABCABAAA-');
});

it('an item of a project that comes late waits for one item of each other project', () => {
  const queue = queueOf(...many(100, 'A', 'code'), ...many(100, 'B', 'code'));
  expect(taken(queue, 3)).toBe('ABA');
  queue.add(item('C'));
  expect(taken(queue, 4)).toBe('BACB');
});

it('a fair queue gives codes before texts, and those before campaigns, but for one in ten of each', () => {
  const queue = queueOf(...many(40, 'g', 'campaign'), ...many(40, 't', 'text'), ...many(40, 'c', 'code'));
  expect(taken(queue, 22)).toBe('ccccccccctgcccccccctgc');
});

it('a lower priority gets one in ten although its items never wait for as long as that takes', () => {
  const queue = queueOf(...many(40, 'c', 'code'));
  const names = Array.from({ length: 20 }, () => {
    const text = item('t', 'text');
    queue.add(text);
    const { name } = queue.take(1) ?? text;
    queue.drop(text);
    return name;
  });
  expect(names.join('')).toBe('ccccccccctccccccccct');
});

it('a priority that is blocked takes nothing from those below it', () => {
  const queue = queueOf(...many(40, 'g', 'campaign'), ...many(40, 't', 'text'), ...many(40, 'c', 'code'));
  const names = Array.from({ length: 20 }, () => queue.take(1, ({ name }) => name !== 't')?.name ?? '-');
  expect(names.join('')).toBe('cccccccccgcccccccccg');
});

it('a fair queue gives everything to a lower priority that is alone', () => {
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

it('while the next item of a project may not be taken, a fair queue serves other projects and priorities', () => {
  const queue = queueOf(
    ...many(2, 'A', 'code'),
    item('B'),
    item('A', 'text', 't'),
    item('C', 'campaign', 'g'),
  );
  const next = () =>
    queue.take(1, ({ backlog, name }) => backlog.projectId !== 'A' || name === 't')?.name ?? '-';
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

it('a fair queue that gave all of its items at once is empty', () => {
  const queue = queueOf(item('A'), item('B', 'text'), item('A', 'campaign', 'G'));
  expect(queue.takeAll().map(({ name }) => name)).toEqual(['A', 'B', 'G']);
  expect(queue.take(1)).toBeNull();
});

/** A queue in front of a provider with so many places. */
function limited(places: number, ...items: readonly Item[]) {
  const clock = { now: 0 };
  const queue = new FairQueue<Item>(() => clock.now);
  for (const each of items) queue.add(each);
  const ends: { readonly name: string; readonly end: () => void }[] = [];
  return {
    clock,
    queue,
    /** Begins everything that may begin, and returns the names. */
    begin(): string {
      const first = ends.length;
      const next = () => queue.take(places - queue.inFlight);
      for (let each = next(); each !== null; each = next()) {
        ends.push({ name: each.name, end: queue.begin(each) });
      }
      return ends
        .slice(first)
        .map(({ name }) => name)
        .join('');
    },
    /** Ends the oldest ones of a project. */
    end(name: string, count: number): void {
      for (let left = count; left > 0; left -= 1) {
        const index = ends.findIndex((each) => each.name === name);
        ends.splice(index, 1)[0]?.end();
      }
    },
  };
}

it('a project that is alone gets all places but a tenth, and other projects get those at once', () => {
  const { queue, begin } = limited(20, ...many(40, 'A'));
  expect(begin()).toBe('A'.repeat(18));
  for (const each of many(2, 'B')) queue.add(each);
  expect(begin()).toBe('B');
  queue.add(item('C'));
  expect(begin()).toBe('C');
});

it('projects whose items end soon have all places but a tenth together', () => {
  const { begin } = limited(20, ...many(40, 'A'), ...many(40, 'B'));
  expect(begin()).toBe('AB'.repeat(9));
});

it('a project begins more only while fewer of its items are slow than are free besides the kept places', () => {
  const { queue, clock, begin, end } = limited(20, ...many(40, 'A'));
  begin();
  clock.now = SLOW_AFTER_MS;
  end('A', 6);
  // Twelve are slow, and eight free.
  expect(begin()).toBe('');
  end('A', 3);
  // Nine are slow, and eleven free, of which two are kept.
  expect(begin()).toBe('');
  end('A', 1);
  expect(begin()).toBe('AA');
  for (const each of many(40, 'B')) queue.add(each);
  expect(begin()).toBe('BBBBBBBB');
});

it('a project that comes after others takes half of what they left', () => {
  const { queue, begin } = limited(64, ...many(90, 'A'));
  expect(begin()).toBe('A'.repeat(57));
  for (const taken of ['BBBB', 'CC', 'D', '']) {
    for (const each of many(90, taken[0] ?? 'E')) queue.add(each);
    expect(begin()).toBe(taken);
  }
});

it('a project whose items are slow takes only places besides the kept ones', () => {
  const { clock, begin, end } = limited(20, ...many(40, 'A'));
  expect(begin()).toBe('A'.repeat(18));
  end('A', 17);
  clock.now = SLOW_AFTER_MS;
  expect(begin()).toBe('A'.repeat(16));
});

it('a fair queue counts what is in flight and not slow, and knows when the next one is', () => {
  const clock = { now: 0 };
  const queue = new FairQueue<Item>(() => clock.now);
  expect([queue.isEmpty, queue.fresh(), queue.nextSlowMs()]).toEqual([true, 0, null]);
  const end = queue.begin(item('A'));
  clock.now = 500;
  queue.begin(item('B'));
  expect([queue.fresh(), queue.nextSlowMs()]).toEqual([2, 1_500]);
  end();
  expect([queue.fresh(), queue.nextSlowMs()]).toEqual([1, 2_000]);
  clock.now = 2_500;
  expect([queue.fresh(), queue.nextSlowMs(), queue.inFlight]).toEqual([0, null, 1]);
  queue.add(item('C'));
  expect(queue.isEmpty).toBe(false);
});

it('a few slow items of a project take no places from its others', () => {
  const { clock, begin, end } = limited(20, ...many(90, 'A'));
  begin();
  end('A', 16);
  clock.now = SLOW_AFTER_MS;
  expect(begin()).toBe('A'.repeat(14));
});

it('items that are added first wait too while their project has its share', () => {
  const { queue, begin, end } = limited(10, ...many(9, 'A'));
  begin();
  queue.addFirst(item('A'));
  expect(begin()).toBe('');
  end('A', 1);
  expect(begin()).toBe('A');
});

it('a fair queue checks no project that waits while no place is free', () => {
  let checks = 0;
  const queue = new FairQueue<Item>(() => {
    checks += 1;
    return 0;
  });
  for (let index = 0; index < 1_000; index += 1) queue.add(item(`project ${index}`));
  expect(queue.take(0)).toBeNull();
  expect(checks).toBe(0);
  queue.take(1);
  expect(checks).toBe(1);
});

it('a fair queue has capacity for what goes out at once behind all that waits, and tells how many of a backlog wait', () => {
  const queue = queueOf(...many(2, 'A'), item('A', 'text'), item('B'));
  expect(queue.capacity({ priority: 'code', projectId: 'A' }, 7)).toEqual({ free: 3, waiting: 2 });
  expect(queue.capacity({ priority: 'campaign', projectId: 'A' }, 4)).toEqual({ free: 0, waiting: 0 });
  expect(queue.capacity({ priority: 'code', projectId: 'B' }, -1)).toEqual({ free: 0, waiting: 1 });
});
