import { expect, it } from 'vitest';
import {
  DeliveryCapacity,
  type DestinationCapacity,
} from '../../../src/application/webhooks/delivery-capacity.ts';

const LIMITS = {
  fetchedPerDestination: 10,
  fetchedPerProject: 15,
  fetched: 20,
  fetchedMin: 3,
  destinationsPerProject: 2,
  destinations: 3,
};

const NOW = 1_000_000;

function opened(capacity: DeliveryCapacity, projectId: string): DestinationCapacity {
  const found = capacity.open(projectId);
  if (found === null) throw new Error(`No capacity for ${projectId}`);
  return found;
}

it('DeliveryCapacity bounds the destinations of a project and of the process', () => {
  const capacity = new DeliveryCapacity(LIMITS);
  const first = opened(capacity, 'p1');
  opened(capacity, 'p1');
  expect(capacity.open('p1')).toBeNull();
  const other = opened(capacity, 'p2');
  expect([capacity.open('p2'), capacity.open('p3')]).toEqual([null, null]);
  capacity.close(other, NOW);
  expect(capacity.open('p1')).toBeNull();
  capacity.close(first, NOW);
  opened(capacity, 'p1');
  expect(capacity.open('p1')).toBeNull();
  opened(capacity, 'p3');
  expect(capacity.open('p2')).toBeNull();
});

it('DeliveryCapacity leaves a destination what is left of its own events, those of its project and those of all', () => {
  const capacity = new DeliveryCapacity(LIMITS);
  const [one, two, other] = [opened(capacity, 'p1'), opened(capacity, 'p1'), opened(capacity, 'p2')];
  expect(one.left(0, 0)).toBe(10);
  expect(one.left(4, 4)).toBe(6);
  one.take(9);
  expect([two.left(0, 0), two.left(5, 5), other.left(0, 0)]).toEqual([6, 5, 10]);
  two.take(3);
  expect([two.left(3, 3), other.left(0, 0)]).toEqual([3, 8]);
  one.release(4);
  two.release(1);
  expect([two.left(2, 2), other.left(0, 0), other.left(3, 3)]).toEqual([8, 10, 7]);
});

it('DeliveryCapacity leaves no fewer than the least, and that much to a destination with nothing in hand', () => {
  const capacity = new DeliveryCapacity(LIMITS);
  const one = opened(capacity, 'p1');
  expect([one.left(7, 7), one.left(8, 8), one.left(8, 1)]).toEqual([3, 0, 0]);
  one.take(15);
  expect([one.left(10, 10), opened(capacity, 'p1').left(0, 0)]).toEqual([0, 3]);
});

it('DeliveryCapacity counts the events of a project for as long as it has a destination', () => {
  const capacity = new DeliveryCapacity(LIMITS);
  const [one, two] = [opened(capacity, 'p1'), opened(capacity, 'p1')];
  one.take(9);
  capacity.close(two, NOW);
  expect(opened(capacity, 'p1').left(0, 0)).toBe(6);
});

it('DeliveryCapacity has a line of jobs without capacity for each project, with or without a destination in hand', () => {
  const capacity = new DeliveryCapacity(LIMITS);
  for (const projectId of ['p1', 'p1', 'p2']) opened(capacity, projectId);
  const dueAt = (projectId: string): number => capacity.surplusDueAt(projectId, NOW);
  expect(['p1', 'p1', 'p2', 'p3', 'p3', 'p4'].map(dueAt)).toEqual([
    1_002_000, 1_002_500, 1_002_000, 1_002_000, 1_002_500, 1_002_000,
  ]);
});

it('DeliveryCapacity keeps no project waiting behind the endpoints of one that waits for a place, too', () => {
  const capacity = new DeliveryCapacity(LIMITS);
  for (const projectId of ['p1', 'p1', 'p2']) opened(capacity, projectId);
  for (let job = 0; job < 120_000; job += 1) capacity.surplusDueAt('p3', NOW);
  expect(capacity.surplusDueAt('p4', NOW)).toBe(NOW + 2_000);
});
