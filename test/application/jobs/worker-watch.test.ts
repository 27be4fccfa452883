import { expect, it } from 'vitest';
import { WorkerWatch } from '../../../src/application/jobs/worker-watch.ts';

const seen = (workers: Record<string, number>) => new Map(Object.entries(workers));

it('a worker is gone when it missed three heartbeats in a row', () => {
  const watch = new WorkerWatch();
  expect(watch.observe(seen({ a: 1, b: 1 }))).toEqual([]);
  expect(watch.observe(seen({ a: 1, b: 2 }))).toEqual([]);
  expect(watch.observe(seen({ a: 1, b: 3 }))).toEqual([]);
  expect(watch.observe(seen({ a: 1, b: 4 }))).toEqual(['a']);
});

it('a worker that comes late, or whose clock was put back, is not gone', () => {
  const watch = new WorkerWatch();
  for (const at of [5, 5, 5, 6, 6, 6, 2, 2, 2, 7]) expect(watch.observe(seen({ a: at }))).toEqual([]);
});

it('a worker that is gone is told for as long as it may have leases, and again once it came back and went', () => {
  const watch = new WorkerWatch();
  const told = (at: number, heartbeats: number) =>
    Array.from({ length: heartbeats }, () => watch.observe(seen({ a: at })).length);
  const [silent, gone] = [Array.from({ length: 3 }, () => 0), Array.from({ length: 15 }, () => 1)];
  expect(told(1, 20)).toEqual([...silent, ...gone, 0, 0]);
  expect(told(2, 20)).toEqual([...silent, ...gone, 0, 0]);
});

it('a worker that was removed is forgotten', () => {
  const watch = new WorkerWatch();
  for (let heartbeat = 0; heartbeat < 3; heartbeat += 1) watch.observe(seen({ a: 1 }));
  expect(watch.observe(seen({}))).toEqual([]);
  expect(watch.observe(seen({ a: 1 }))).toEqual([]);
});
