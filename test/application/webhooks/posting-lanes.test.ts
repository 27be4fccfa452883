import { describe, expect, it } from 'vitest';
import { BATCH_ITEMS_MAX } from '../../../src/application/batcher.ts';
import {
  LEASE_LEFT_MS,
  LEASE_MS,
  type LeasedJob,
  RENEW_EVERY_MS,
} from '../../../src/application/jobs/job.ts';
import type { WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import { POSTS_PER_ORIGIN_MAX } from '../../../src/application/ports/webhook-transport.ts';
import {
  LANE_LIMITS,
  type LaneLimits,
  type Look,
  PostingLanes,
} from '../../../src/application/webhooks/posting-lanes.ts';
import { NOW } from '../../support/builders.ts';

const ROOMY: LaneLimits = {
  atOnce: 50,
  perEndpoint: 100,
  perProject: 1_000,
  total: 10_000,
  unrecordedPerProject: 1_000,
  unrecordedTotal: 10_000,
  lanesPerProject: 100,
  lanesTotal: 1_000,
};

interface Due {
  readonly id: string;
  readonly nextAttemptAt: number;
}

const aJob = (endpoint = 'a.example/', projectId = 'a', fencingToken = 1): LeasedJob<WebhookWork> => ({
  id: `webhooks/${projectId}/${endpoint}`,
  fencingToken,
  work: { kind: 'deliver-webhooks', projectId, endpoint },
});
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const endpointsOf = (looks: readonly Look[]) => looks.map(({ lane }) => lane.job.work.endpoint);

/** Lanes over a store that is a list of due events per job, and posts that end when they are told to. */
class World {
  readonly lanes: PostingLanes;
  readonly #due = new Map<string, Due[]>();
  /** How many posts ended, by project. */
  readonly ended = new Map<string, number>();
  readonly begun: { readonly look: Look; readonly event: Due }[] = [];

  constructor(limits: Partial<LaneLimits> = {}) {
    this.lanes = new PostingLanes({ ...ROOMY, ...limits });
  }

  open(job: LeasedJob<WebhookWork>, count: number): boolean {
    this.#due.set(
      job.id,
      upTo(count).map((number) => ({
        id: `${job.work.endpoint}#${String(number).padStart(4, '0')}`,
        nextAttemptAt: NOW,
      })),
    );
    return this.lanes.open(job);
  }

  add(job: LeasedJob<WebhookWork>, event: Due): void {
    const due = [...(this.#due.get(job.id) ?? []), event];
    due.sort((a, b) => a.nextAttemptAt - b.nextAttemptAt || (a.id < b.id ? -1 : 1));
    this.#due.set(job.id, due);
  }

  find({ lane, limit }: Look): readonly Due[] {
    const { seen } = lane;
    const due = this.#due.get(lane.job.id) ?? [];
    const isBehind = ({ nextAttemptAt, id }: Due) =>
      seen === null ||
      nextAttemptAt > seen.nextAttemptAt ||
      (nextAttemptAt === seen.nextAttemptAt && id > seen.id);
    return due.filter(isBehind).slice(0, limit);
  }

  /** One round of looks; the ids that were begun. */
  look(): readonly string[] {
    return this.lanes.take().flatMap((look) => this.begin(look, this.find(look)));
  }

  begin(look: Look, found: readonly Due[]): readonly string[] {
    const begun = this.lanes.begin(look, found, NOW);
    this.begun.push(...begun.map((event) => ({ look, event })));
    return begun.map(({ id }) => id);
  }

  lookUntilNothing(): readonly string[] {
    const all: string[] = [];
    for (let ids = this.look(); ids.length > 0; ids = this.look()) all.push(...ids);
    return all;
  }

  /** The first so many posts under way are over; recorded as well unless it is left out. */
  end(count: number, { records = true, at = NOW, isAnswered = true } = {}): void {
    for (const { look, event } of this.begun.splice(0, count)) {
      this.lanes.over(look.lane, at, isAnswered);
      const { projectId } = look.lane.job.work;
      this.ended.set(projectId, (this.ended.get(projectId) ?? 0) + 1);
      if (records) this.record(look, event);
    }
  }

  record({ lane }: Look, { id }: Due): void {
    this.#due.set(
      lane.job.id,
      (this.#due.get(lane.job.id) ?? []).filter((due) => due.id !== id),
    );
    this.lanes.recorded(lane, id);
  }
}

describe('what may begin', () => {
  it('is everything of a lane, in order, while there is room', () => {
    const world = new World();
    world.open(aJob(), 25);
    const ids = world.lookUntilNothing();
    expect(ids).toEqual(upTo(25).map((number) => `a.example/#${String(number).padStart(4, '0')}`));
  });

  it('is no more than an endpoint may have, and another endpoint does not wait for it', () => {
    const world = new World({ perEndpoint: 100 });
    world.open(aJob(), 300);
    world.open(aJob('b.example/'), 1);
    const ids = world.lookUntilNothing();
    expect(ids.filter((id) => id.startsWith('a.example/'))).toHaveLength(100);
    expect(ids).toContain('b.example/#0000');
  });

  it('counts an endpoint over all projects that name it', () => {
    const world = new World({ perEndpoint: 100 });
    world.open(aJob('shared.example/', 'a'), 80);
    world.open(aJob('shared.example/', 'b'), 80);
    const begun = world.lookUntilNothing().length;
    expect(begun).toBeGreaterThan(80);
    expect(begun).toBeLessThanOrEqual(100);
  });

  it('leaves room for another project at an endpoint that answers fast', () => {
    const world = new World({ perEndpoint: 300 });
    world.open(aJob('shared.example/', 'big'), 20_000);
    world.lookUntilNothing();
    // A thousand answers in a second, five together.
    const serve = (from: number) => {
      for (let at = from; at < from + 1_000; at += 5) {
        world.end(5, { at });
        world.lookUntilNothing();
      }
    };
    serve(NOW);
    world.open(aJob('shared.example/', 'small'), 40);
    serve(NOW + 1_000);
    const small = world.begun.filter(({ look }) => look.lane.job.work.projectId === 'small').length;
    expect(world.ended.get('small') ?? 0).toBe(40 - small);
    expect(world.ended.get('small')).toBeGreaterThan(30);
  });

  it('goes on where it stopped once so many fit that a look is worth it', () => {
    const world = new World({ perEndpoint: 100 });
    world.open(aJob(), 300);
    world.lookUntilNothing();
    world.end(49);
    expect(world.look()).toEqual([]);
    world.end(1);
    expect(world.look()).toEqual(upTo(50).map((number) => `a.example/#0${number + 100}`));
  });

  /** One answer after the other: how many posts were under way after each look that found more. */
  const answer = (world: World, count: number, { from = NOW, everyMs }: { from?: number; everyMs: number }) =>
    upTo(count).flatMap((number) => {
      world.end(1, { at: from + number * everyMs });
      return world.lookUntilNothing().length > 0 ? [world.begun.length] : [];
    });

  it('is more for an endpoint that answers fast, and no more than before for one that does not', () => {
    const answering = (perPeriod: number) => {
      const world = new World({ perEndpoint: 200 });
      world.open(aJob(), 1_000);
      world.lookUntilNothing();
      return answer(world, 500, { everyMs: 200 / perPeriod }).at(-1);
    };
    expect([answering(100), answering(10)]).toEqual([150, 100]);
  });

  it('rises with the answers of a period, and falls when there are fewer', () => {
    const world = new World({ perEndpoint: 200 });
    world.open(aJob(), 2_000);
    world.lookUntilNothing();
    expect(answer(world, 120, { everyMs: 1 })).toEqual([100, 133]);
    answer(world, 180, { from: NOW + 120, everyMs: 1 });
    expect(answer(world, 200, { from: NOW + 300, everyMs: 20 })).toEqual([100, 100, 100]);
  });

  it.each([
    { what: 'a pause', from: NOW + 5_000 },
    { what: 'the clock was put back', from: NOW - 3_600_000 },
  ])('is as in the beginning after $what', ({ from }) => {
    const world = new World({ perEndpoint: 200 });
    world.open(aJob(), 1_000);
    world.lookUntilNothing();
    expect(answer(world, 120, { everyMs: 1 })).toEqual([100, 133]);
    expect(answer(world, 90, { from, everyMs: 1 })).toEqual([100, 131]);
  });

  it('is no more for an endpoint whose posts end without an answer, together as they may', () => {
    const world = new World({ perEndpoint: 200 });
    world.open(aJob(), 2_000);
    world.lookUntilNothing();
    answer(world, 120, { everyMs: 1 });
    const begun = upTo(4).map((round) => {
      world.end(1_000, { at: NOW + 10_000 * (round + 1), isAnswered: false });
      return world.lookUntilNothing().length;
    });
    expect(begun).toEqual([100, 100, 100, 100]);
  });

  it('counts for the project only as far as it is posted at once', () => {
    const world = new World({ perProject: 110 });
    for (const number of upTo(4)) world.open(aJob(`a.example/${number}`), 300);
    const ids = world.lookUntilNothing();
    const perEndpoint = upTo(4).map(
      (number) => ids.filter((id) => id.startsWith(`a.example/${number}#`)).length,
    );
    const atOnce = perEndpoint.reduce((sum, count) => sum + Math.min(count, 50), 0);
    expect(atOnce).toBe(110);
    expect(perEndpoint.filter((count) => count === 100)).not.toEqual([]);
  });

  it('asks for little first, so that many endpoints of a project can look together', () => {
    const world = new World({ perProject: 150 });
    for (const number of upTo(20)) world.open(aJob(`a.example/${number}`), 1);
    expect(world.lanes.take().map(({ room }) => room)).toEqual(Array(15).fill(10));
  });

  it('is bounded for a project with many endpoints, and another project does not wait for it', () => {
    const world = new World({ perProject: 150 });
    for (const number of upTo(90)) world.open(aJob(`a.example/${number}`), 2);
    world.open(aJob('b.example/', 'b'), 1);
    const ids = world.lookUntilNothing();
    expect(ids.filter((id) => id.startsWith('a.example/'))).toHaveLength(150);
    expect(ids).toContain('b.example/#0000');
  });

  it('is bounded in all, and what ends makes room for one project after the other', () => {
    const world = new World({ total: 2 });
    world.open(aJob('a.example/1', 'a'), 1);
    world.open(aJob('a.example/2', 'a'), 2);
    world.open(aJob('b.example/', 'b'), 1);
    const seen = [...world.look(), ...world.look()];
    for (let round = 0; round < 6; round += 1) {
      world.end(1);
      seen.push(...world.lookUntilNothing());
    }
    expect(seen.filter((id) => id.startsWith('b.example/'))).toHaveLength(1);
    expect(seen).toHaveLength(4);
    expect(seen.indexOf('b.example/#0000')).toBeLessThan(3);
  });

  it('waits until what was answered is recorded, when that is too much of one project or in all', () => {
    const world = new World({ unrecordedPerProject: 2, unrecordedTotal: 3 });
    world.open(aJob('a.example/', 'a'), 2);
    expect(world.lookUntilNothing()).toHaveLength(2);
    const posts = [...world.begun];
    world.end(2, { records: false });
    world.open(aJob('a.example/more', 'a'), 1);
    expect(world.look()).toEqual([]);
    world.open(aJob('b.example/', 'b'), 1);
    expect(world.look()).toEqual(['b.example/#0000']);
    world.end(1, { records: false });
    world.open(aJob('c.example/', 'c'), 1);
    expect(world.look()).toEqual([]);
    for (const { look, event } of posts.slice(0, 1)) world.record(look, event);
    expect([...world.look()].sort()).toEqual(['a.example/more#0000', 'c.example/#0000']);
  });

  it('can be more than one batch of what is not recorded', () => {
    expect(LANE_LIMITS.unrecordedPerProject).toBeGreaterThan(BATCH_ITEMS_MAX);
  });

  it('keeps one project from taking all the connections to one host', () => {
    expect(LANE_LIMITS.perProject).toBeLessThan(POSTS_PER_ORIGIN_MAX);
  });

  it('is not kept waiting by leases: each is renewed long before it is too short', () => {
    expect(RENEW_EVERY_MS).toBeLessThan(LEASE_LEFT_MS);
    expect(LEASE_LEFT_MS).toBeLessThan(LEASE_MS - RENEW_EVERY_MS);
  });
});

describe('a lane', () => {
  it('forgets what it has seen when it is leased anew', () => {
    const world = new World();
    world.open(aJob(), 1);
    expect(world.look()).toEqual(['a.example/#0000']);
    world.add(aJob(), { id: 'old', nextAttemptAt: NOW - 60_000 });
    world.lanes.lookEverywhere();
    expect(world.look()).toEqual([]);
    world.lanes.open(aJob('a.example/', 'a', 2));
    expect(world.look()).toEqual(['old']);
  });

  it('is not opened beyond what a project and a process may have open', () => {
    const world = new World({ lanesPerProject: 2, lanesTotal: 3 });
    const opened = ['1', '2', '3'].map((path) => world.open(aJob(`a.example/${path}`), 1));
    expect(opened).toEqual([true, true, false]);
    expect(world.open(aJob('b.example/1', 'b'), 1)).toBe(true);
    expect(world.open(aJob('b.example/2', 'b'), 1)).toBe(false);
    expect(world.open(aJob('a.example/1'), 1)).toBe(true);
  });

  it('makes room for another when it is closed', () => {
    const world = new World({ lanesPerProject: 1, lanesTotal: 1 });
    for (const path of ['1', '2', '3']) {
      expect(world.open(aJob(`a.example/${path}`), 0)).toBe(true);
      expect(world.look()).toEqual([]);
      const [lane] = world.lanes.held();
      if (lane === undefined) throw new Error('The lane is open');
      expect(world.lanes.isIdle(lane)).toBe(true);
      world.lanes.close(lane);
    }
    expect(world.lanes.isEmpty).toBe(true);
  });

  it('is closed once, however often it is lost', () => {
    const world = new World();
    world.open(aJob('a.example/1'), 1);
    world.open(aJob('a.example/2'), 25);
    const [look] = world.lanes.take();
    if (look === undefined) throw new Error('The lane looks');
    world.lanes.lose(look.lane);
    world.lanes.lose(look.lane);
    world.lanes.skip(look);
    world.lanes.lose(look.lane);
    expect(world.lanes.held()).toHaveLength(1);
    world.lanes.lookEverywhere();
    expect(world.lanes.take().map(({ lane }) => lane.job.id)).toEqual([]);
    const [other] = world.lanes.held();
    if (other === undefined) throw new Error('The other lane is open');
    world.lanes.skip({ lane: other, limit: 10, room: 10 });
    world.lanes.want(other);
    expect(world.lookUntilNothing()).toHaveLength(25);
  });

  it('finds one new event behind many that are under way', () => {
    const world = new World();
    const job = aJob();
    world.open(job, 9);
    expect(world.look()).toHaveLength(9);
    for (let number = 0; number < 12; number += 1) {
      const id = `z${String(number).padStart(2, '0')}`;
      world.add(job, { id, nextAttemptAt: NOW });
      world.lanes.lookEverywhere();
      expect(world.look()).toEqual([id]);
    }
  });

  it('looks for little again after a look that came to nothing', () => {
    const world = new World();
    world.open(aJob(), 200);
    world.look();
    const [look] = world.lanes.take();
    if (look === undefined) throw new Error('The lane looks');
    expect(look.room).toBe(90);
    world.lanes.skip(look);
    expect(world.look()).toEqual([]);
    world.lanes.want(look.lane);
    expect(world.look()).toHaveLength(10);
  });

  it('does not look twice at the same time', () => {
    const world = new World();
    world.open(aJob(), 1);
    const [look] = world.lanes.take();
    world.lanes.lookEverywhere();
    expect(world.lanes.take()).toEqual([]);
    if (look === undefined) throw new Error('The lane looks');
    expect(world.begin(look, world.find(look))).toHaveLength(1);
  });

  it('begins nothing twice: neither what is under way, nor what was recorded while it looked', () => {
    const world = new World();
    const job = aJob();
    world.open(job, 3);
    expect(world.look()).toHaveLength(3);
    world.lanes.lookEverywhere();
    expect(world.look()).toEqual([]);
    world.lanes.lookEverywhere();
    const [look] = world.lanes.take();
    if (look === undefined) throw new Error('The lane looks');
    look.lane.seen = null;
    const found = world.find(look);
    expect(found).toHaveLength(3);
    world.end(3);
    expect(world.begin(look, found)).toEqual([]);
    expect(world.lanes.isIdle(look.lane)).toBe(false);
    expect(world.look()).toEqual([]);
    expect(world.lanes.isIdle(look.lane)).toBe(true);
  });

  it('finds what comes meanwhile when it is told to look, also what was due a little earlier', () => {
    const world = new World();
    const job = aJob();
    world.open(job, 3);
    world.look();
    world.add(job, { id: 'late', nextAttemptAt: NOW - 4_000 });
    world.add(job, { id: 'next', nextAttemptAt: NOW + 1 });
    expect(world.look()).toEqual([]);
    world.lanes.lookEverywhere();
    expect(world.look()).toEqual(['late', 'next']);
  });

  it('finds what came back or was added very late when it is told to look at everything', () => {
    const world = new World();
    const job = aJob();
    world.open(job, 3);
    world.look();
    world.add(job, { id: 'very late', nextAttemptAt: NOW - 60_000 });
    world.lanes.lookEverywhere();
    expect(world.look()).toEqual([]);
    world.lanes.lookAtEverything();
    expect(world.look()).toEqual(['very late']);
  });

  it('finds that beside a long backlog as well', () => {
    const world = new World();
    const job = aJob();
    world.open(job, 500);
    world.lookUntilNothing();
    world.add(job, { id: 'very late', nextAttemptAt: NOW - 60_000 });
    world.lanes.lookAtEverything();
    world.end(60);
    expect(world.look()).toContain('very late');
  });

  it('looks at everything once more when its last post is recorded, and is idle when that finds nothing', () => {
    const world = new World();
    const job = aJob();
    world.open(job, 2);
    world.look();
    world.add(job, { id: 'very late', nextAttemptAt: NOW - 60_000 });
    world.end(1);
    expect(world.look()).toEqual([]);
    world.end(1);
    expect(world.look()).toEqual(['very late']);
    world.end(1);
    const [look] = world.lanes.take();
    if (look === undefined) throw new Error('The lane looks');
    expect(world.begin(look, [])).toEqual([]);
    expect(world.lanes.isIdle(look.lane)).toBe(true);
    world.lanes.close(look.lane);
    expect(world.lanes.isEmpty).toBe(true);
  });

  it('begins nothing more once it is lost, and is closed when its last post is over', () => {
    const world = new World();
    world.open(aJob(), 30);
    world.look();
    const lane = world.begun[0]?.look.lane;
    if (lane === undefined) throw new Error('Something was begun');
    world.lanes.lose(lane);
    world.lanes.lookEverywhere();
    expect(world.look()).toEqual([]);
    world.end(9);
    expect(world.lanes.isEmpty).toBe(false);
    world.end(1);
    expect(world.lanes.isEmpty).toBe(true);
  });

  it('goes on under a newer lease, and pays no heed to an older one', () => {
    const world = new World();
    world.open(aJob('a.example/', 'a', 5), 1);
    world.look();
    const lane = world.begun[0]?.look.lane;
    if (lane === undefined) throw new Error('Something was begun');
    world.lanes.lose(lane);
    world.lanes.open(aJob('a.example/', 'a', 4));
    expect(lane).toMatchObject({ isLost: true, job: { fencingToken: 5 } });
    world.lanes.open(aJob('a.example/', 'a', 6));
    expect(lane).toMatchObject({ isLost: false, job: { fencingToken: 6 } });
    expect(endpointsOf(world.lanes.take())).toEqual(['a.example/']);
  });

  it('gives the room back that a look did not use', () => {
    const world = new World({ total: 10 });
    world.open(aJob(), 0);
    const [look] = world.lanes.take();
    if (look === undefined) throw new Error('The lane looks');
    world.open(aJob('b.example/', 'b'), 10);
    expect(world.look()).toEqual([]);
    world.lanes.skip(look);
    expect(world.look()).toHaveLength(10);
  });
});
