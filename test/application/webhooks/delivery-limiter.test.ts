import { describe, expect, it } from 'vitest';
import { BATCH_ITEMS_MAX } from '../../../src/application/batching/batch-queue.ts';
import { type AttemptQueue, DeliveryLimiter } from '../../../src/application/webhooks/delivery-limiter.ts';
import { DELIVERY_LIMITS, type DeliveryLimits } from '../../../src/application/webhooks/delivery-limits.ts';
import { FairLimit } from '../../../src/application/webhooks/fair-limit.ts';
import { LEASE_LEFT_MS, LEASE_MS, RENEW_EVERY_MS } from '../../../src/domain/jobs/job.ts';
import { aWebhookEvent } from '../../support/builders.ts';

/** No limit is reached unless a test sets it. */
const WIDE = {
  attemptsPerEndpoint: 1_000,
  attemptsPerHost: 1_000,
  attemptsPerProject: 1_000,
  attempts: 1_000,
};

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Queues whose events are named after them, and attempts that end when a test says so. */
class World {
  readonly limiter: DeliveryLimiter;
  readonly inFlight: AttemptQueue[] = [];
  readonly begun: string[] = [];
  mayBegin = true;

  constructor(limits: Partial<DeliveryLimits> = {}) {
    this.limiter = new DeliveryLimiter({ ...WIDE, ...limits });
  }

  /** A queue of a project for an endpoint, with so many events in it. */
  open(projectId: string, endpoint: string, count: number): AttemptQueue {
    const queue = this.limiter.open(
      { projectId, endpoint },
      () => this.mayBegin,
      ({ id }) => {
        this.inFlight.push(queue);
        this.begun.push(id);
      },
    );
    queue.add(upTo(count).map((number) => aWebhookEvent({ id: `${projectId} ${endpoint} ${number}` })));
    return queue;
  }

  /** The attempts that have been in flight for longest end, one after the other. */
  end(count: number): void {
    for (const _ of upTo(count)) this.inFlight.shift()?.ended();
  }

  begunOf(prefix: string): number {
    return this.begun.filter((id) => id.startsWith(prefix)).length;
  }
}

describe('the attempt limiter', () => {
  it('the attempt limiter keeps a limit while any queue uses it, and forgets it with the last', () => {
    const { limiter } = new World();
    const open = () =>
      limiter.open(
        { projectId: 'a', endpoint: 'one.example/' },
        () => true,
        () => {},
      );
    const [first, second] = [open(), open()];
    limiter.close(first);
    const third = open();
    expect(third.limits.map((limit, index) => limit === second.limits[index])).toEqual([
      true,
      true,
      true,
      true,
    ]);
    limiter.close(second);
    limiter.close(third);
    expect(open().limits.map((limit, index) => limit === third.limits[index])).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('the attempt limiter begins every event of a queue once and in order, as many at a time as its endpoint may have', () => {
    const world = new World({ attemptsPerEndpoint: 7 });
    const queue = world.open('a', 'one.example/', 20);
    for (const ended of upTo(20)) {
      expect([world.inFlight.length, queue.size]).toEqual([Math.min(7, 20 - ended), 20 - ended]);
      world.end(1);
    }
    expect(world.begun).toEqual(upTo(20).map((number) => `a one.example/ ${number}`));
  });

  it('the attempt limiter lets no endpoint wait for another that has reached its limit, on the same host and of the same project', () => {
    const world = new World({ attemptsPerEndpoint: 50 });
    world.open('a', 'shared.example/hangs', 200);
    world.open('a', 'shared.example/works', 1);
    expect([world.begunOf('a shared.example/hangs'), world.begunOf('a shared.example/works')]).toEqual([
      50, 1,
    ]);
  });

  it('the attempt limiter counts an endpoint over all projects, and serves the projects one after the other', () => {
    const world = new World({ attemptsPerEndpoint: 10 });
    world.open('big', 'shared.example/', 500);
    world.open('small', 'shared.example/', 10);
    expect(world.begunOf('small')).toBe(0);
    world.end(20);
    expect(world.inFlight).toHaveLength(10);
    expect(world.begunOf('small')).toBe(10);
  });

  it('the attempt limiter bounds a host over its endpoints and projects, and another host does not wait for it', () => {
    const world = new World({ attemptsPerHost: 5 });
    world.open('a', 'shared.example/1', 4);
    world.open('b', 'shared.example/2', 4);
    world.open('b', 'other.example/', 4);
    expect([world.begunOf('a shared'), world.begunOf('b shared'), world.begunOf('b other')]).toEqual([
      3, 1, 3,
    ]);
    world.end(12);
    expect(world.begun).toHaveLength(12);
  });

  it('the attempt limiter lets no project wait for a host whose paths hang for others', () => {
    const world = new World(DELIVERY_LIMITS);
    for (const project of ['a', 'b']) {
      for (const number of upTo(300)) world.open(project, `shared.example/${project}${number}`, 3);
    }
    world.open('c', 'shared.example/works', 20);
    expect(world.begunOf('c')).toBe(20);
  });

  it('the attempt limiter gives what becomes free of a host to the projects in rotation, however many endpoints of one wait', () => {
    const world = new World({ attemptsPerHost: 2 });
    for (const project of ['a', 'b']) {
      for (const number of upTo(100)) world.open(project, `shared.example/${project}${number}`, 3);
    }
    world.open('c', 'shared.example/works', 1);
    expect(world.begunOf('c')).toBe(0);
    world.end(3);
    expect([world.begunOf('a'), world.begunOf('b'), world.begunOf('c')]).toEqual([2, 2, 1]);
  });

  it('the attempt limiter lets no project wait for a process whose attempts hang for others', () => {
    const world = new World(DELIVERY_LIMITS);
    for (const project of upTo(20)) {
      for (const number of upTo(200)) world.open(`${project}`, `${project}.example:${number}/`, 3);
    }
    world.open('c', 'other.example/works', 1);
    expect(world.begunOf('c')).toBe(1);
  });

  it('the attempt limiter bounds a project over its endpoints, and another project does not wait for it', () => {
    const world = new World({ attemptsPerProject: 15 });
    for (const number of upTo(9)) world.open('a', `many.example/${number}`, 10);
    world.open('b', 'other.example/', 1);
    expect([world.begunOf('a'), world.begunOf('b')]).toEqual([15, 1]);
    world.end(91);
    expect(world.begun).toHaveLength(91);
  });

  it('the attempt limiter bounds the process, and gives the projects in rotation what becomes free', () => {
    const world = new World({ attempts: 4 });
    world.open('a', 'one.example/', 9);
    world.open('a', 'two.example/', 9);
    world.open('b', 'one.example/', 2);
    expect([world.begunOf('a one'), world.begunOf('a two'), world.begunOf('b one')]).toEqual([2, 0, 1]);
    world.end(2);
    expect([world.begunOf('a one'), world.begunOf('a two'), world.begunOf('b one')]).toEqual([3, 0, 2]);
    world.end(17);
    expect(world.begun).toHaveLength(20);
  });

  it('the attempt limiter begins nothing while a queue may not begin, and goes on when the queue is resumed', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    const queue = world.open('a', 'one.example/', 3);
    world.mayBegin = false;
    world.end(1);
    expect(world.begun).toHaveLength(1);
    world.mayBegin = true;
    queue.resume();
    expect(world.begun).toHaveLength(2);
  });

  it('the attempt limiter forgets the events that a queue drops', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    const queue = world.open('a', 'one.example/', 3);
    expect(queue.drop().map(({ id }) => id)).toEqual(['a one.example/ 1', 'a one.example/ 2']);
    world.end(1);
    expect([world.begun.length, queue.size]).toEqual([1, 0]);
  });

  it('the attempt limiter keeps the count of an endpoint while one of its queues is open, and forgets it with the last', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    const closed = world.open('a', 'one.example/', 0);
    world.open('b', 'one.example/', 1);
    world.limiter.close(closed);
    world.open('c', 'one.example/', 1);
    expect(world.begunOf('c')).toBe(0);
    world.end(1);
    expect(world.begunOf('c')).toBe(1);
  });
});

describe('the limits of delivery', () => {
  it('the limits of delivery let a project have more events in hand than one batch records', () => {
    expect(DELIVERY_LIMITS.fetchedPerProject).toBeGreaterThan(BATCH_ITEMS_MAX);
  });

  it('the limits of delivery let a project use up an endpoint of a host that nobody else uses', () => {
    const limit = new FairLimit(DELIVERY_LIMITS.attemptsPerHost, { isShared: true });
    for (const _ of upTo(DELIVERY_LIMITS.attemptsPerEndpoint - 1)) limit.begin('a');
    expect(limit.mayBegin('a')).toBe(true);
  });

  it('the limits of delivery keep one project from most of all attempts', () => {
    expect(DELIVERY_LIMITS.attemptsPerProject * 10).toBeLessThan(DELIVERY_LIMITS.attempts);
  });

  it('the limits of delivery let a lease be renewed long before it is too short to attempt anything', () => {
    expect(RENEW_EVERY_MS).toBeLessThan(LEASE_LEFT_MS);
    expect(LEASE_LEFT_MS).toBeLessThan(LEASE_MS - RENEW_EVERY_MS);
  });
});
