import { expect, it } from 'vitest';
import { FairLimit } from '../../../src/application/webhooks/fair-limit.ts';

const shared = (max: number) => new FairLimit<string>(max, { isShared: true });
const whole = (max: number) => new FairLimit<string>(max, { isShared: false });

/** Begins attempts of a project while they may begin, so many at most; returns how many. */
function begin(limit: FairLimit<string>, projectId: string, max = Number.POSITIVE_INFINITY): number {
  let begun = 0;
  for (; begun < max && limit.mayBegin(projectId); begun += 1) limit.begin(projectId);
  return begun;
}

/** Takes each queue that is next, and begins an attempt of it. A queue is named after its project, `a 1`. */
function nextOf(limit: FairLimit<string>): string[] {
  const queues: string[] = [];
  for (let queue = limit.next(); queue !== null; queue = limit.next()) {
    queues.push(queue);
    limit.begin(queue.slice(0, 1));
  }
  return queues;
}

it('FairLimit gives one project all attempts of a limit that is not shared', () => {
  const limit = whole(10);
  expect([begin(limit, 'a'), begin(limit, 'b')]).toEqual([10, 0]);
  limit.end('a');
  expect([begin(limit, 'b'), begin(limit, 'a')]).toEqual([1, 0]);
});

it('FairLimit gives a project as many attempts as it leaves free, without those that are kept', () => {
  const limit = shared(200);
  expect(['a', 'b', 'c', 'd'].map((project) => begin(limit, project))).toEqual([90, 45, 23, 11]);
});

it('FairLimit keeps a tenth of a shared limit for projects that have nothing in flight', () => {
  const limit = shared(20);
  expect([...'abcdefgh'].map((project) => begin(limit, project))).toEqual([9, 5, 2, 1, 1, 1, 1, 0]);
  limit.end('d');
  expect([...'abcefgh'].map((project) => begin(limit, project))).toEqual([0, 0, 0, 0, 0, 0, 1]);
});

it('FairLimit lets projects that share a limit come to the same share when attempts end', () => {
  const limit = shared(40);
  const inFlight = { a: begin(limit, 'a'), b: begin(limit, 'b') };
  expect(inFlight).toEqual({ a: 18, b: 9 });
  for (let round = 0; round < 20; round += 1) {
    for (const project of ['a', 'b'] as const) {
      limit.end(project);
      inFlight[project] -= 1;
      for (const each of ['a', 'b'] as const) inFlight[each] += begin(limit, each);
    }
  }
  expect(Math.abs(inFlight.a - inFlight.b)).toBeLessThanOrEqual(1);
});

it('FairLimit gives what becomes free to the projects in rotation, and to the queues of each in theirs', () => {
  const limit = whole(3);
  begin(limit, 'x');
  for (const queue of ['a 1', 'a 2', 'a 3', 'b 1', 'c 1']) limit.wait(queue.slice(0, 1), queue);
  expect(limit.next()).toBeNull();
  const next = ['x', 'x', 'x', 'a', 'b'].flatMap((project) => {
    limit.end(project);
    return nextOf(limit);
  });
  expect(next).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'a 3']);
});

it('FairLimit passes over a project that has its share, which stays first in the rotation', () => {
  const limit = shared(4);
  expect([begin(limit, 'a'), begin(limit, 'b')]).toEqual([2, 1]);
  for (const queue of ['a 1', 'b 1', 'c 1']) limit.wait(queue.slice(0, 1), queue);
  expect(nextOf(limit)).toEqual(['c 1']);
  for (const project of ['b', 'c']) limit.end(project);
  expect(nextOf(limit)).toEqual(['b 1']);
  for (const project of ['a', 'b']) limit.end(project);
  expect(nextOf(limit)).toEqual(['a 1']);
});

it('FairLimit returns a queue once that waits twice, and none that left', () => {
  const limit = whole(5);
  for (const queue of ['a 1', 'a 1', 'a 2', 'b 1']) limit.wait(queue.slice(0, 1), queue);
  for (const queue of ['a 2', 'b 1', 'c 1']) limit.leave(queue);
  expect(nextOf(limit)).toEqual(['a 1']);
});
