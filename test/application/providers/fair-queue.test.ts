import { expect, it } from 'vitest';
import { FairQueue } from '../../../src/application/providers/fair-queue.ts';
import type { JobPriority } from '../../../src/domain/jobs/job-priority.ts';
import {
  FRESH_MS,
  LATENCY_REMEMBERED_MS,
  SLOW_AFTER_MS,
} from '../../../src/domain/providers/submission-share.ts';
import { rejectedAs } from '../../../src/domain/providers/submit-result.ts';

const THROTTLED = rejectedAs('throttled', 'The SMSC takes no more');

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

const many = (count: number, projectId: string, priority: JobPriority = 'code'): readonly Item[] =>
  Array.from({ length: count }, () => item(projectId, priority));

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
      const next = () => queue.take(places - queue.inFlight.count);
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

it('a fair queue counts what is in flight and fresh, and knows when the next one is so no longer', () => {
  const clock = { now: 0 };
  const queue = new FairQueue<Item>(() => clock.now, 2_000);
  expect([queue.isEmpty, queue.inFlight.fresh(), queue.inFlight.freshEndsMs()]).toEqual([true, 0, null]);
  const end = queue.begin(item('A'));
  clock.now = 500;
  queue.begin(item('B'));
  expect([queue.inFlight.fresh(), queue.inFlight.freshEndsMs()]).toEqual([2, 1_500]);
  end();
  expect([queue.inFlight.fresh(), queue.inFlight.freshEndsMs()]).toEqual([1, 2_000]);
  clock.now = 2_500;
  expect([queue.inFlight.fresh(), queue.inFlight.freshEndsMs(), queue.inFlight.count]).toEqual([0, null, 1]);
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
  expect(queue.capacity({ priority: 'code', projectId: 'A' }, 7)).toEqual({
    free: 3,
    passing: 3,
    waiting: 2,
    ahead: 3,
  });
  expect(queue.capacity({ priority: 'campaign', projectId: 'A' }, 4)).toEqual({
    free: 0,
    passing: 0,
    waiting: 0,
    ahead: 4,
  });
  expect(queue.capacity({ priority: 'code', projectId: 'B' }, -1)).toEqual({
    free: 0,
    passing: 0,
    waiting: 1,
    ahead: 3,
  });
});

it('a project passes what waits of projects with slow ones in flight', () => {
  const { clock, queue, begin } = limited(20, ...many(17, 'A'));
  begin();
  clock.now += SLOW_AFTER_MS;
  for (const each of many(5, 'A')) queue.add(each);
  expect(begin()).toBe('');
  const capacityOf = (projectId: string) =>
    queue.capacity({ priority: 'code', projectId }, 20 - queue.inFlight.count);
  expect(capacityOf('A')).toMatchObject({ free: 0, passing: 0 });
  expect(capacityOf('B')).toMatchObject({ free: 0, passing: 2 });
  queue.add(item('B'));
  expect(capacityOf('B')).toMatchObject({ passing: 1 });
  expect(begin()).toBe('B');
});

it.each([
  ['long', FRESH_MS, 19],
  ['slow', SLOW_AFTER_MS, 18],
])(
  'projects whose items were %s a moment ago leave places to others, and have them again later',
  (_, ms, inFlight) => {
    const projects = Array.from({ length: 20 }, (_, n) => `p${String(n).padStart(2, '0')}`);
    const { clock, queue, begin, end } = limited(20, ...projects.map((each) => item(each)));
    begin();
    clock.now += ms;
    for (const each of projects) end(each, 1);
    for (const each of projects) queue.add(item(each));
    begin();
    expect(queue.inFlight.count).toBe(inFlight);
    queue.add(item('B'));
    expect(begin()).toBe('B');
    clock.now += LATENCY_REMEMBERED_MS;
    begin();
    expect(queue.inFlight.count).toBe(20);
  },
);

it('a project whose items are long has places that projects with slow ones leave, also before those end', () => {
  const { clock, queue, begin, end } = limited(20, ...many(2, 'A'), item('B'));
  begin();
  clock.now = FRESH_MS;
  end('B', 1);
  clock.now = SLOW_AFTER_MS;
  for (const each of [...many(40, 'A'), ...many(40, 'C')]) queue.add(each);
  // A is slow already, and C leaves what is kept.
  expect(begin()).toHaveLength(16);
  queue.add(item('B'));
  expect(begin()).toBe('B');
});

it.each([1, 2, 9])(
  'a project that was slow goes on at a provider with %d places, of which no tenth is whole',
  (places) => {
    const { clock, queue, begin, end } = limited(places, item('A'));
    begin();
    clock.now += SLOW_AFTER_MS;
    end('A', 1);
    for (const each of many(places, 'A')) queue.add(each);
    begin();
    expect(queue.inFlight.count).toBe(Math.max(1, places - 1));
  },
);

/** Half of what was sent of the project is rejected: it goes at 7 a second, one each 143 ms. */
const SLOWEST_MS = 143;

it('a project that the provider throttles waits for its rate, and those of others pass it', () => {
  const { queue, clock, begin } = limited(20, ...many(3, 'A'), ...many(2, 'B'));
  queue.noteResult('A', THROTTLED);
  expect([begin(), queue.heldByRateMs()]).toEqual(['BB', SLOWEST_MS]);
  expect(queue.heldByRateMs()).toBe(null);
  clock.now = SLOWEST_MS;
  expect(begin()).toBe('A');
});

it('a code of a project at a rate goes out before the text of another one, for which the rate allows a request', () => {
  const { queue, clock, begin } = limited(20, ...many(2, 'B', 'text'));
  queue.noteResult('B', THROTTLED);
  clock.now = 100;
  queue.noteResult('A', THROTTLED);
  queue.add(item('A'));
  expect(queue.capacity({ priority: 'code', projectId: 'A' }, 20).ofRate).toBe(0);
  clock.now = SLOWEST_MS;
  expect(queue.capacity({ priority: 'text', projectId: 'A' }, 20).ofRate).toBe(0);
  expect(begin()).toBe('A');
  expect(queue.heldByRateMs()).toBeGreaterThan(100);
});

it('what waits of a project at a rate uses up what the rate allows', () => {
  const { queue, clock } = limited(20);
  const ofRate = () => queue.capacity({ priority: 'text', projectId: 'A' }, 20).ofRate;
  expect(ofRate()).toBe(undefined);
  queue.noteResult('A', THROTTLED);
  expect(ofRate()).toBe(0);
  clock.now = SLOWEST_MS;
  expect(ofRate()).toBe(1);
  queue.add(item('A'));
  expect(ofRate()).toBe(0);
});

it('a project that is passed over for its rate is not forgotten when the rate allows it a moment later', () => {
  let now = 0;
  const queue = new FairQueue<Item>(() => now);
  queue.add(item('A'));
  queue.noteResult('A', THROTTLED);
  now = SLOWEST_MS - 1;
  expect(queue.take(9)).toBe(null);
  now = SLOWEST_MS;
  expect(queue.heldByRateMs()).toBe(1);
});
