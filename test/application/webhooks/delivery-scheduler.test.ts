import { describe, expect, it } from 'vitest';
import { BATCH_ITEMS_MAX } from '../../../src/application/batcher.ts';
import {
  LEASE_LEFT_MS,
  LEASE_MS,
  type LeasedJob,
  RENEW_EVERY_MS,
} from '../../../src/application/jobs/job.ts';
import type { WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import { DELIVERY_LIMITS, type DeliveryLimits } from '../../../src/application/webhooks/delivery-limits.ts';
import {
  DeliveryScheduler,
  type Destination,
  type Fetch,
} from '../../../src/application/webhooks/delivery-scheduler.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { aWebhookEvent, NOW } from '../../support/builders.ts';

/** No limit is reached unless a test sets it. */
const WIDE: DeliveryLimits = {
  attemptsPerEndpoint: 1_000,
  attemptsPerHost: 1_000,
  attemptsPerProject: 1_000,
  attempts: 1_000,
  fetchedPerDestination: 1_000,
  fetchedPerProject: 10_000,
  fetched: 10_000,
  destinationsPerProject: 1_000,
  destinations: 1_000,
};

const jobOf = (endpoint: string, projectId = 'a', fencingToken = 1): LeasedJob<WebhookWork> => ({
  id: `webhooks/${projectId}/${endpoint}`,
  fencingToken,
  work: { kind: 'deliver-webhooks', projectId, endpoint },
});
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

interface Attempt {
  readonly destination: Destination;
  readonly id: string;
}

/** A scheduler over a store that is a list of due events for each job; attempts end when a test says so. */
class World {
  readonly scheduler: DeliveryScheduler;
  readonly clock = { at: NOW, now: () => this.clock.at };
  readonly inFlight: Attempt[] = [];
  /** The ids of all events that were attempted, in order. */
  readonly attempted: string[] = [];
  leasedUntil = NOW + LEASE_MS;
  readonly #due = new Map<string, WebhookEvent[]>();

  constructor(limits: Partial<DeliveryLimits> = {}) {
    this.scheduler = new DeliveryScheduler({
      clock: this.clock,
      attempt: (destination, { id }) => {
        this.inFlight.push({ destination, id });
        this.attempted.push(id);
      },
      wake: () => {},
      limits: { ...WIDE, ...limits },
    });
  }

  add(job: LeasedJob<WebhookWork>, count: number): boolean {
    const { endpoint, projectId } = job.work;
    this.#due.set(
      job.id,
      upTo(count).map((number) => aWebhookEvent({ id: `${projectId} ${endpoint} ${number}` })),
    );
    return this.scheduler.add(job);
  }

  /** One more event that is due at a destination, before all others or behind them. */
  comesDue(job: LeasedJob<WebhookWork>, id: string, place: 'first' | 'last' = 'last'): void {
    const due = this.#due.get(job.id) ?? [];
    const event = aWebhookEvent({ id });
    this.#due.set(job.id, place === 'first' ? [event, ...due] : [...due, event]);
  }

  read({ destination, limit }: Fetch): readonly WebhookEvent[] {
    return (this.#due.get(destination.job.id) ?? []).slice(0, limit);
  }

  fetch(fetches = this.scheduler.nextFetches()): void {
    for (const fetch of fetches) this.scheduler.fetched(fetch, this.read(fetch), this.leasedUntil);
  }

  fetchAll(): void {
    let fetches = this.scheduler.nextFetches();
    while (fetches.length > 0) {
      this.fetch(fetches);
      fetches = this.scheduler.nextFetches();
    }
  }

  /** The attempts that have been in flight for longest get their responses; they are recorded unless left out. */
  respond(count: number, { records = true } = {}): readonly Attempt[] {
    const ended = this.inFlight.splice(0, count);
    for (const attempt of ended) {
      this.scheduler.responded(attempt.destination);
      if (records) this.record(attempt);
    }
    return ended;
  }

  record({ destination, id }: Attempt): void {
    const due = this.#due.get(destination.job.id) ?? [];
    this.#due.set(
      destination.job.id,
      due.filter((event) => event.id !== id),
    );
    this.scheduler.recorded(destination, id);
  }

  attemptedOf(prefix: string): number {
    return this.attempted.filter((id) => id.startsWith(prefix)).length;
  }

  /** The destination that was added first. */
  get first(): Destination {
    const [destination] = this.scheduler.leased();
    if (destination === undefined) throw new Error('No destination is leased');
    return destination;
  }
}

describe('the delivery scheduler', () => {
  it('attempts everything that is due at a destination, each event once and in order', () => {
    const world = new World({ attemptsPerEndpoint: 7 });
    world.add(jobOf('one.example/'), 40);
    world.fetchAll();
    while (world.inFlight.length > 0) {
      world.respond(3);
      world.fetchAll();
    }
    expect(world.attempted).toEqual(upTo(40).map((number) => `a one.example/ ${number}`));
  });

  it('attempts no more than an endpoint may have, and another endpoint does not wait for it', () => {
    const world = new World({ attemptsPerEndpoint: 50 });
    world.add(jobOf('hangs.example/'), 200);
    world.add(jobOf('works.example/'), 1);
    world.fetchAll();
    expect(world.attemptedOf('a hangs')).toBe(50);
    expect(world.attemptedOf('a works')).toBe(1);
  });

  it('counts the attempts at an endpoint of all projects together, and serves them in turn', () => {
    const world = new World({ attemptsPerEndpoint: 10 });
    world.add(jobOf('shared.example/', 'big'), 500);
    world.fetchAll();
    world.add(jobOf('shared.example/', 'small'), 10);
    world.fetchAll();
    expect(world.attemptedOf('small')).toBe(0);
    for (const _ of upTo(20)) world.respond(1);
    expect(world.inFlight).toHaveLength(10);
    expect(world.attemptedOf('small')).toBe(10);
  });

  it('attempts no more than a host may have, and another host does not wait for it', () => {
    const world = new World({ attemptsPerHost: 5 });
    world.add(jobOf('shared.example/1', 'a'), 4);
    world.add(jobOf('shared.example/2', 'b'), 4);
    world.add(jobOf('other.example/', 'b'), 4);
    world.fetchAll();
    expect(world.attempted.filter((id) => id.includes('shared.example'))).toHaveLength(5);
    expect(world.attemptedOf('b other')).toBe(4);
    for (const _ of upTo(12)) world.respond(1);
    expect(world.attempted).toHaveLength(12);
  });

  it('attempts no more than a project may have, and another project does not wait for it', () => {
    const world = new World({ attemptsPerProject: 15 });
    for (const number of upTo(9)) world.add(jobOf(`many.example/${number}`), 10);
    world.add(jobOf('other.example/', 'b'), 1);
    world.fetchAll();
    expect(world.attemptedOf('a ')).toBe(15);
    expect(world.attemptedOf('b ')).toBe(1);
  });

  it('attempts no more than the process may have, and gives what becomes free to each in turn', () => {
    const world = new World({ attempts: 2 });
    world.add(jobOf('one.example/'), 9);
    world.add(jobOf('two.example/'), 9);
    world.add(jobOf('one.example/', 'b'), 1);
    world.fetchAll();
    expect(world.inFlight).toHaveLength(2);
    for (const _ of upTo(3)) world.respond(1);
    expect(world.inFlight).toHaveLength(2);
    expect([world.attemptedOf('a one'), world.attemptedOf('a two'), world.attemptedOf('b one')]).toEqual([
      3, 1, 1,
    ]);
  });

  it('begins one attempt for each that ended, as long as events wait', () => {
    const world = new World({ attemptsPerEndpoint: 5, attemptsPerProject: 4 });
    world.add(jobOf('one.example/'), 10);
    world.add(jobOf('two.example/'), 10);
    world.fetchAll();
    for (const ended of upTo(20)) {
      const waiting = 20 - ended;
      expect([ended, world.inFlight.length]).toEqual([ended, Math.min(4, waiting)]);
      world.respond(1);
      world.fetchAll();
    }
    expect(world.scheduler.leased().map((each) => world.scheduler.isIdle(each))).toEqual([true, true]);
  });

  it('attempts nothing from the instant on at which the lease may be over, until it is renewed', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    world.leasedUntil = NOW + 6_000;
    world.add(jobOf('one.example/'), 3);
    world.fetchAll();
    world.clock.at = NOW + 5_999;
    world.respond(1);
    expect(world.attempted).toHaveLength(2);
    world.clock.at = NOW + 6_000;
    world.respond(1);
    expect(world.attempted).toHaveLength(2);
    world.scheduler.renewed(world.first, NOW + 6_001);
    expect(world.attempted).toHaveLength(3);
  });

  it('goes on under a newer lease, and ignores an older one', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    world.add(jobOf('one.example/', 'a', 5), 3);
    world.fetchAll();
    const destination = world.first;
    world.scheduler.add(jobOf('one.example/', 'a', 4));
    expect(destination).toMatchObject({ job: { fencingToken: 5 } });
    world.scheduler.lose(destination);
    world.scheduler.add(jobOf('one.example/', 'a', 6));
    expect(destination).toMatchObject({ isLost: false, job: { fencingToken: 6 } });
    world.fetchAll();
    world.respond(1);
    world.respond(1);
    expect(world.attempted).toEqual(['a one.example/ 0', 'a one.example/ 1', 'a one.example/ 2']);
  });

  it('forgets what waited under an older lease, since another process may have attempted it', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    world.add(jobOf('one.example/', 'a', 1), 3);
    world.fetchAll();
    world.scheduler.add(jobOf('one.example/', 'a', 2));
    world.respond(1);
    expect(world.attempted).toHaveLength(1);
    world.fetchAll();
    expect(world.attempted).toHaveLength(2);
  });

  it('attempts nothing more of a lost destination, and removes it when its last attempt is recorded', () => {
    const world = new World({ attemptsPerEndpoint: 2 });
    world.add(jobOf('one.example/'), 5);
    world.fetchAll();
    world.scheduler.lose(world.first);
    world.scheduler.poll();
    expect(world.scheduler.nextFetches()).toEqual([]);
    world.respond(1);
    expect([world.attempted.length, world.scheduler.isEmpty]).toEqual([2, false]);
    world.respond(1);
    expect([world.attempted.length, world.scheduler.isEmpty]).toEqual([2, true]);
  });

  it('takes nothing that was fetched for a destination that was lost meanwhile', () => {
    const world = new World();
    world.add(jobOf('one.example/'), 3);
    const fetches = world.scheduler.nextFetches();
    world.scheduler.lose(world.first);
    world.fetch(fetches);
    expect([world.attempted.length, world.scheduler.isEmpty]).toEqual([0, true]);
  });

  it('removes a lost destination once, and its neighbours go on', () => {
    const world = new World({ attemptsPerEndpoint: 1, destinationsPerProject: 2 });
    world.add(jobOf('lost.example/'), 0);
    world.add(jobOf('other.example/'), 2);
    const lost = world.first;
    world.scheduler.lose(lost);
    world.scheduler.lose(lost);
    world.scheduler.remove(lost);
    expect([world.add(jobOf('third.example/'), 0), world.add(jobOf('fourth.example/'), 0)]).toEqual([
      true,
      false,
    ]);
    world.fetchAll();
    world.respond(1);
    expect(world.attempted).toEqual(['a other.example/ 0', 'a other.example/ 1']);
  });

  it('fetches events again that it has dropped', () => {
    const world = new World({ attemptsPerEndpoint: 1 });
    world.add(jobOf('one.example/'), 3);
    world.fetchAll();
    world.scheduler.drop(world.first);
    world.respond(1);
    expect(world.attempted).toHaveLength(1);
    world.fetchAll();
    world.respond(1);
    expect(world.attempted).toEqual(['a one.example/ 0', 'a one.example/ 1', 'a one.example/ 2']);
  });
});

describe('fetching', () => {
  it('asks for little at first, so that many destinations of a project fit into one query', () => {
    const world = new World({ fetchedPerProject: 150 });
    for (const number of upTo(20)) world.add(jobOf(`many.example/${number}`), 1);
    expect(world.scheduler.nextFetches().map(({ room }) => room)).toEqual(Array(15).fill(10));
  });

  it('asks for 250 destinations in one query, and for one project after the other', () => {
    const world = new World();
    for (const number of upTo(300)) world.add(jobOf(`many.example/${number}`), 1);
    world.add(jobOf('other.example/', 'b'), 1);
    const first = world.scheduler.nextFetches();
    expect(first).toHaveLength(250);
    world.fetch(first);
    const second = world.scheduler.nextFetches();
    expect(second.map(({ destination }) => destination.project.id)).toEqual(['b', ...Array(50).fill('a')]);
  });

  it('reads ahead of the attempts, and again when half of it is used up', () => {
    const world = new World({ attemptsPerEndpoint: 50, fetchedPerDestination: 300 });
    world.add(jobOf('one.example/'), 1_000);
    world.fetchAll();
    expect([world.inFlight.length, world.first.waiting.length]).toEqual([50, 250]);
    for (const _ of upTo(149)) world.respond(1);
    expect(world.scheduler.nextFetches()).toEqual([]);
    world.respond(1);
    expect(world.scheduler.nextFetches()).toMatchObject([{ room: 150, limit: 300 }]);
  });

  it('finds a new event behind many that are in flight', () => {
    const world = new World();
    const job = jobOf('one.example/');
    world.add(job, 9);
    world.fetchAll();
    for (const number of upTo(12)) {
      world.comesDue(job, `new ${number}`);
      world.scheduler.poll();
      world.fetchAll();
      expect(world.attempted.at(-1)).toBe(`new ${number}`);
    }
  });

  it('finds an event that came due before all others', () => {
    const world = new World();
    const job = jobOf('one.example/');
    world.add(job, 30);
    world.fetchAll();
    world.comesDue(job, 'early', 'first');
    world.scheduler.poll();
    world.fetchAll();
    expect(world.attempted.at(-1)).toBe('early');
  });

  it('attempts no event twice that was recorded while it was read', () => {
    const world = new World();
    world.add(jobOf('one.example/'), 3);
    world.fetchAll();
    world.scheduler.poll();
    const fetches = world.scheduler.nextFetches();
    const read = fetches.map((fetch) => world.read(fetch));
    expect(read.map((events) => events.length)).toEqual([3]);
    world.respond(3);
    for (const [index, fetch] of fetches.entries()) {
      world.scheduler.fetched(fetch, read[index] ?? [], world.leasedUntil);
    }
    expect(world.attempted).toHaveLength(3);
  });

  it('fetches once more when the last attempt is recorded, and is idle when nothing more is due', () => {
    const world = new World();
    const job = jobOf('one.example/');
    world.add(job, 2);
    world.fetchAll();
    const destination = world.first;
    world.respond(2);
    expect(world.scheduler.isIdle(destination)).toBe(false);
    world.comesDue(job, 'late');
    world.fetchAll();
    expect(world.attempted.at(-1)).toBe('late');
    world.respond(1);
    world.fetchAll();
    expect(world.scheduler.isIdle(destination)).toBe(true);
    world.scheduler.remove(destination);
    expect(world.scheduler.isEmpty).toBe(true);
  });

  it('waits until results are recorded when too many of a project, or in all, are not', () => {
    const world = new World({ fetchedPerProject: 2, fetched: 3 });
    world.add(jobOf('one.example/'), 2);
    world.fetchAll();
    const unrecorded = world.respond(2, { records: false });
    world.add(jobOf('two.example/'), 1);
    expect(world.scheduler.nextFetches()).toEqual([]);
    world.add(jobOf('one.example/', 'b'), 1);
    world.fetchAll();
    world.add(jobOf('one.example/', 'c'), 1);
    expect(world.scheduler.nextFetches()).toEqual([]);
    for (const attempt of unrecorded) world.record(attempt);
    world.fetchAll();
    expect([world.attemptedOf('a two'), world.attemptedOf('b'), world.attemptedOf('c')]).toEqual([1, 1, 1]);
  });

  it('polls 250 destinations at a time, all of them in turn, however many there are', () => {
    const world = new World();
    for (const number of upTo(600)) world.add(jobOf(`many.example/${number}`), 1);
    world.fetchAll();
    const polled = upTo(3).map(() => {
      world.scheduler.poll();
      const fetches = world.scheduler.nextFetches();
      world.fetch(fetches);
      return fetches.map(({ destination }) => destination.job.id);
    });
    expect(polled.map((ids) => ids.length)).toEqual([250, 250, 250]);
    expect(new Set(polled.flat()).size).toBe(600);
  });

  it('takes no more destinations than a project and a process may have, and others when those are removed', () => {
    const world = new World({ destinationsPerProject: 2, destinations: 3 });
    const added = ['1', '2', '3'].map((path) => world.add(jobOf(`many.example/${path}`), 0));
    expect(added).toEqual([true, true, false]);
    const others = ['1', '2'].map((path) => world.add(jobOf(`other.example/${path}`, 'b'), 0));
    expect(others).toEqual([true, false]);
    expect(world.add(jobOf('many.example/1'), 0)).toBe(true);
    world.fetchAll();
    for (const destination of world.scheduler.leased()) world.scheduler.remove(destination);
    expect(world.scheduler.isEmpty).toBe(true);
    expect(world.add(jobOf('many.example/3'), 0)).toBe(true);
  });
});

describe('the limits of delivery', () => {
  it('let a project have more events in hand than one batch records', () => {
    expect(DELIVERY_LIMITS.fetchedPerProject).toBeGreaterThan(BATCH_ITEMS_MAX);
  });

  it('keep one project from all the attempts at one host, and from all there are', () => {
    expect(DELIVERY_LIMITS.attemptsPerProject).toBeLessThan(DELIVERY_LIMITS.attemptsPerHost);
    expect(DELIVERY_LIMITS.attemptsPerProject * 10).toBeLessThan(DELIVERY_LIMITS.attempts);
  });

  it('let a lease be renewed long before it is too short to attempt anything', () => {
    expect(RENEW_EVERY_MS).toBeLessThan(LEASE_LEFT_MS);
    expect(LEASE_LEFT_MS).toBeLessThan(LEASE_MS - RENEW_EVERY_MS);
  });
});
