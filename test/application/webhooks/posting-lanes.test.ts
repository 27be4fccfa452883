import { describe, expect, it } from 'vitest';
import { POSTS_PER_ORIGIN_MAX } from '../../../src/adapters/undici/undici-webhook-transport.ts';
import { BATCH_ITEMS_MAX } from '../../../src/application/batcher.ts';
import {
  LANE_LIMITS,
  type LaneLimits,
  PostingLanes,
} from '../../../src/application/webhooks/posting-lanes.ts';
import { BACKGROUND_ITEMS_MAX } from '../../../src/bootstrap/modules/use-cases.ts';
import { NOW } from '../../support/builders.ts';

interface Item {
  readonly endpoint: string;
  readonly projectId: string;
  readonly number: number;
}

const ROOMY: LaneLimits = {
  perEndpoint: 100,
  perProject: 1_000,
  total: 10_000,
  unrecordedPerProject: 1_000,
  unrecordedTotal: 10_000,
  waitingPerProject: 1_000,
  waitingTotal: 10_000,
};

const lanesWith = (limits: Partial<LaneLimits>) => new PostingLanes<Item>({ ...ROOMY, ...limits });
const item = (number: number, endpoint = 'a.example/', projectId = 'a'): Item => ({
  number,
  endpoint,
  projectId,
});
const numbers = (items: readonly Item[]) => items.map(({ number }) => number);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('what may begin', () => {
  it('is everything, in order, while there is room', () => {
    const lanes = lanesWith({});
    for (const number of upTo(5)) expect(lanes.offer(item(number))).toBe(true);
    expect(numbers(lanes.take())).toEqual([0, 1, 2, 3, 4]);
    expect(lanes.take()).toEqual([]);
  });

  it('is no more than an endpoint may have, and another endpoint does not wait for it', () => {
    const lanes = lanesWith({ perEndpoint: 100 });
    for (const number of upTo(300)) lanes.offer(item(number));
    lanes.offer(item(999, 'b.example/'));
    const taken = lanes.take();
    expect(taken.filter(({ endpoint }) => endpoint === 'a.example/')).toHaveLength(100);
    expect(numbers(taken)).toContain(999);
    expect(lanes.take()).toEqual([]);
  });

  it('goes on where it stopped once a whole refill fits', () => {
    const lanes = lanesWith({ perEndpoint: 100 });
    for (const number of upTo(300)) lanes.offer(item(number));
    const taken = [...lanes.take()];
    for (const ended of taken.splice(0, 49)) lanes.end(ended, NOW);
    expect(lanes.take()).toEqual([]);
    for (const ended of taken.splice(0, 1)) lanes.end(ended, NOW);
    expect(numbers(lanes.take())).toEqual(upTo(50).map((number) => 100 + number));
  });

  it('does not wait for a refill when less than one is left', () => {
    const lanes = lanesWith({ perEndpoint: 100 });
    for (const number of upTo(103)) lanes.offer(item(number));
    const taken = [...lanes.take()];
    for (const ended of taken.splice(0, 2)) lanes.end(ended, NOW);
    expect(lanes.take()).toEqual([]);
    for (const ended of taken.splice(0, 1)) lanes.end(ended, NOW);
    expect(numbers(lanes.take())).toEqual([100, 101, 102]);
  });

  it('is bounded for a project with many endpoints, and another project does not wait for it', () => {
    const lanes = lanesWith({ perProject: 150 });
    for (const number of upTo(400)) lanes.offer(item(number, `a.example/${number}`));
    lanes.offer(item(999, 'b.example/', 'b'));
    const taken = lanes.take();
    expect(taken.filter(({ projectId }) => projectId === 'a')).toHaveLength(150);
    expect(numbers(taken)).toContain(999);
  });

  it('is bounded in all, and what ends makes room for one project after the other', () => {
    const lanes = lanesWith({ total: 2 });
    lanes.offer(item(1, 'a.example/1', 'a'));
    lanes.offer(item(2, 'a.example/2', 'a'));
    const underWay = [...lanes.take()];
    lanes.offer(item(3, 'a.example/3', 'a'));
    lanes.offer(item(4, 'a.example/4', 'a'));
    lanes.offer(item(5, 'b.example/', 'b'));
    expect(lanes.take()).toEqual([]);
    const seen: number[] = [];
    for (let ended = underWay.shift(); ended !== undefined; ended = underWay.shift()) {
      lanes.end(ended, NOW);
      const taken = lanes.take();
      seen.push(...numbers(taken));
      underWay.push(...taken);
    }
    expect(seen).toEqual([3, 5, 4]);
  });

  it('leaves every post of a busy endpoint its turn', () => {
    const lanes = lanesWith({ perEndpoint: 60, total: 80 });
    for (const number of upTo(1_000)) lanes.offer(item(number));
    const seen: number[] = [];
    for (let taken = lanes.take(); taken.length > 0; taken = lanes.take()) {
      seen.push(...numbers(taken));
      for (const ended of taken) lanes.end(ended, NOW);
    }
    expect(seen).toEqual(upTo(1_000));
  });

  it('waits until what was answered is recorded, when that is too much of one project or in all', () => {
    const lanes = lanesWith({ unrecordedPerProject: 2, unrecordedTotal: 3 });
    const offered = (number: number, projectId: string) => {
      lanes.offer(item(number, `${projectId}.example/`, projectId));
      return numbers(lanes.take());
    };
    const answered = upTo(2).map((number) => item(number, 'a.example/', 'a'));
    for (const { number } of answered) expect(offered(number, 'a')).toEqual([number]);
    for (const each of answered) lanes.answered(each, NOW);
    expect(offered(2, 'a')).toEqual([]);
    expect(offered(3, 'b')).toEqual([3]);
    lanes.answered(item(3, 'b.example/', 'b'), NOW);
    expect(offered(4, 'b')).toEqual([]);
    lanes.recorded(item(0, 'a.example/', 'a'), NOW);
    expect(numbers(lanes.take()).sort()).toEqual([2, 4]);
  });

  it('can be more than one batch of what is not recorded, and leaves room for channels', () => {
    expect(LANE_LIMITS.unrecordedPerProject).toBeGreaterThan(BATCH_ITEMS_MAX);
    expect(LANE_LIMITS.total + LANE_LIMITS.unrecordedTotal).toBeLessThan(BACKGROUND_ITEMS_MAX);
  });

  it('keeps one project from taking all the connections to one host', () => {
    expect(LANE_LIMITS.perProject).toBeLessThan(POSTS_PER_ORIGIN_MAX);
  });
});

describe('what waits', () => {
  it('is bounded per project and in all', () => {
    const lanes = lanesWith({ waitingPerProject: 2, waitingTotal: 3 });
    expect([1, 2, 3].map((number) => lanes.offer(item(number)))).toEqual([true, true, false]);
    expect(lanes.offer(item(4, 'b.example/', 'b'))).toBe(true);
    expect(lanes.offer(item(5, 'c.example/', 'c'))).toBe(false);
    lanes.take();
    expect(lanes.offer(item(6))).toBe(true);
  });

  it('comes back a second later, spread out, and slower when its receiver is', () => {
    const lanes = lanesWith({});
    const span = () => {
      const instants = upTo(1_000).map(() => lanes.comesBackAt('a', NOW));
      return { first: instants[0], last: (instants.at(-1) ?? 0) - (instants[0] ?? 0) };
    };
    expect(span()).toEqual({ first: NOW + 1_000, last: 100 });
    // A hundred posts in a second.
    lanes.offer(item(0));
    for (const each of lanes.take()) lanes.end(each, NOW);
    for (const number of upTo(100)) {
      lanes.offer(item(number));
      for (const each of lanes.take()) lanes.end(each, NOW + (number + 1) * 10);
    }
    expect(span().last).toBe(1_998);
  });
});
