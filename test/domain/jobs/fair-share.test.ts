import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstLeaseRound,
  nextLeaseRound,
  type WeightedBacklog,
} from '../../../src/domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../../src/domain/jobs/job-priority.ts';

const backlog = (projectId: string, priority: JobPriority = 'text', weight = 1): WeightedBacklog => ({
  priority,
  projectId,
  weight,
});
const [a, b, c] = [backlog('a'), backlog('b'), backlog('c')];

const sharesOf = (capacity: number, backlogs: readonly WeightedBacklog[]) =>
  firstLeaseRound(capacity, backlogs).shares.map(({ backlog: { priority, projectId }, jobs }) => [
    priority,
    projectId,
    jobs,
  ]);

/** What a lease takes of each backlog that has so many jobs, in the order of the backlogs, and in how many rounds. */
function roundsOf(capacity: number, backlogs: readonly WeightedBacklog[], jobs: readonly number[]) {
  const left = new Map(backlogs.map((each, index) => [each, jobs[index] ?? 0]));
  let rounds = 0;
  for (let round = firstLeaseRound(capacity, backlogs); round.shares.length > 0; rounds += 1) {
    // Each round but the last finds a backlog empty.
    expect(rounds).toBeLessThanOrEqual(backlogs.length);
    const leased = round.shares.map((share) => Math.min(share.jobs, left.get(share.backlog) ?? 0));
    for (const [index, share] of round.shares.entries()) {
      left.set(share.backlog, (left.get(share.backlog) ?? 0) - (leased[index] ?? 0));
    }
    round = nextLeaseRound(round, leased);
  }
  return { rounds, leased: backlogs.map((each, index) => (jobs[index] ?? 0) - (left.get(each) ?? 0)) };
}

function leaseOf(capacity: number, backlogs: readonly WeightedBacklog[], jobs: readonly number[]) {
  return roundsOf(capacity, backlogs, jobs).leased;
}

describe('the first round of a lease', () => {
  it('the first round of a lease gives a project that is alone everything', () => {
    expect(sharesOf(500, [a])).toEqual([['text', 'a', 500]]);
  });

  it('the first round of a lease gives every project the same, and the first ones what is left; the one served last comes last', () => {
    expect(sharesOf(9, [a, b, c])).toEqual([
      ['text', 'a', 3],
      ['text', 'b', 3],
      ['text', 'c', 3],
    ]);
    expect(sharesOf(8, [a, b, c])).toEqual([
      ['text', 'c', 2],
      ['text', 'a', 3],
      ['text', 'b', 3],
    ]);
  });

  it('the first round of a lease gives nothing to the last ones when there are more projects than jobs', () => {
    expect(sharesOf(2, [a, b, c])).toEqual([
      ['text', 'a', 1],
      ['text', 'b', 1],
    ]);
  });

  it('the first round of a lease gives a project of weight 3 three times the jobs of one of weight 1', () => {
    const heavy = backlog('heavy', 'text', 3);
    expect(sharesOf(8, [a, heavy])).toEqual([
      ['text', 'a', 2],
      ['text', 'heavy', 6],
    ]);
    expect(sharesOf(9, [a, heavy])).toEqual([
      ['text', 'heavy', 6],
      ['text', 'a', 3],
    ]);
    expect(sharesOf(500, [heavy])).toEqual([['text', 'heavy', 500]]);
  });

  it('the first round of a lease gives the most urgent priority all but a tenth for each lower one, whatever the order of the backlogs', () => {
    expect(sharesOf(500, [backlog('a', 'webhook'), backlog('b', 'code'), backlog('c', 'text')])).toEqual([
      ['code', 'b', 400],
      ['text', 'c', 50],
      ['webhook', 'a', 50],
    ]);
  });

  it('the first round of a lease gives the most urgent priority the only job of a lease, and the next one the second', () => {
    const backlogs = [backlog('a', 'code'), backlog('b', 'text'), backlog('c', 'webhook')];
    expect(sharesOf(1, backlogs)).toEqual([['code', 'a', 1]]);
    expect(sharesOf(2, backlogs)).toEqual([
      ['code', 'a', 1],
      ['text', 'b', 1],
    ]);
    expect(sharesOf(12, backlogs)).toEqual([
      ['code', 'a', 8],
      ['text', 'b', 2],
      ['webhook', 'c', 2],
    ]);
  });

  it('the first round of a lease gives nothing when there is no capacity, or nothing is due', () => {
    expect(sharesOf(0, [a, backlog('b', 'code')])).toEqual([]);
    expect(sharesOf(5, [])).toEqual([]);
  });
});

describe('the next round of a lease', () => {
  it('the next round of a lease gives what a backlog left over to those that had their whole share', () => {
    // a has 1 of its 3 jobs, b and c have all of theirs.
    const round = nextLeaseRound(firstLeaseRound(9, [a, b, c]), [1, 3, 3]);
    expect(round.capacity).toBe(2);
    expect(round.shares).toEqual([
      { backlog: b, jobs: 1 },
      { backlog: c, jobs: 1 },
    ]);
    expect(nextLeaseRound(round, [1, 1]).shares).toEqual([]);
  });

  it('the next round of a lease serves a backlog that was not served yet before those that were', () => {
    const round = nextLeaseRound(firstLeaseRound(2, [a, b, c]), [1, 0]);
    expect(round.shares).toEqual([{ backlog: c, jobs: 1 }]);
  });

  it('the lease ends when every backlog is empty', () => {
    expect(nextLeaseRound(firstLeaseRound(9, [a, b]), [0, 0]).shares).toEqual([]);
  });
});

describe('a whole lease', () => {
  const arbitraryBacklogs = fc.uniqueArray(
    fc.record({
      projectId: fc.integer({ min: 0, max: 40 }).map((number) => `p${number}`),
      priority: fc.constantFrom(...JOB_PRIORITIES),
      weight: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 100 })),
      jobs: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1_000_000 })),
    }),
    { selector: ({ projectId, priority }) => `${projectId} ${priority}`, maxLength: 60 },
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

  it('a lease is full as long as jobs are due', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 700 }), arbitraryBacklogs, (capacity, backlogs) => {
        const jobs = backlogs.map((each) => each.jobs);
        expect(sum(leaseOf(capacity, backlogs, jobs))).toBe(Math.min(capacity, sum(jobs)));
      }),
    );
  });

  it('no project of weight 1 gets more than one job more than another one that still has some', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 700 }), arbitraryBacklogs, (capacity, weighted) => {
        const backlogs = weighted.map((each) => ({ ...each, weight: 1 }));
        const leased = leaseOf(
          capacity,
          backlogs,
          backlogs.map((each) => each.jobs),
        );
        for (const [index, { priority, jobs }] of backlogs.entries()) {
          const own = leased[index] ?? 0;
          const most = Math.max(...leased.filter((_, other) => backlogs[other]?.priority === priority));
          expect(own).toBeGreaterThanOrEqual(Math.min(jobs, most - 1));
        }
      }),
    );
  });

  it('projects with jobs left over get jobs by their weights, to within one job of each round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 700 }), arbitraryBacklogs, (capacity, backlogs) => {
        const { leased, rounds } = roundsOf(
          capacity,
          backlogs,
          backlogs.map((each) => each.jobs),
        );
        for (const [index, { priority, jobs, weight }] of backlogs.entries()) {
          const own = leased[index] ?? 0;
          if (own === jobs) continue;
          for (const [other, { priority: otherPriority, weight: otherWeight }] of backlogs.entries()) {
            if (otherPriority !== priority) continue;
            // In a round less than one job is lost by the rounding, and at most one is won.
            expect((own + rounds) / weight).toBeGreaterThan(((leased[other] ?? 0) - rounds) / otherWeight);
          }
        }
      }),
    );
  });

  it('every backlog gets a job within as many leases as there are backlogs, whatever the weights', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), weights, (capacity, all) => {
        let backlogs = all.map((weight, index) => backlog(`p${index}`, 'text', weight));
        const waiting = new Set(backlogs);
        for (let leases = 0; leases < all.length; leases += 1) {
          const { shares } = firstLeaseRound(capacity, backlogs);
          for (const share of shares) waiting.delete(share.backlog);
          // The next lease begins behind the one served last.
          const last = shares.at(-1)?.backlog ?? backlog('none');
          const next = backlogs.indexOf(last) + 1;
          backlogs = [...backlogs.slice(next), ...backlogs.slice(0, next)];
        }
        expect(waiting).toEqual(new Set());
      }),
    );
  });

  it('a project waits for no more than its share, however many jobs others have', () => {
    const others = fc.array(fc.integer({ min: 1, max: 1_000_000_000 }), { maxLength: 30 });
    const urgent = fc.array(fc.integer({ min: 1, max: 1_000_000_000 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), others, urgent, (own, sizes, urgentSizes) => {
        const capacity = 500;
        const backlogs = [
          ...sizes.map((_, index) => backlog(`p${index}`)),
          ...urgentSizes.map((_, index) => backlog(`p${index}`, 'code')),
          backlog('own'),
        ];
        // Texts get the whole lease when no code is due, else a tenth of it.
        const texts = urgentSizes.length === 0 ? 500 : 50;
        const share = Math.floor(texts / (sizes.length + 1));
        let [left, leases] = [own, 0];
        const most = Math.ceil(own / share);
        for (; left > 0 && leases <= most; leases += 1) {
          left -= leaseOf(capacity, backlogs, [...sizes, ...urgentSizes, left]).at(-1) ?? 0;
        }
        expect(leases).toBeLessThanOrEqual(most);
      }),
    );
  });
});
