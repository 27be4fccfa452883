import { expect, it } from 'vitest';
import { StartBudget } from '../../../src/application/attempts/start-budget.ts';
import type { Backlog } from '../../../src/domain/jobs/fair-share.ts';

const A: Backlog = { priority: 'code', projectId: 'a' };
const B: Backlog = { priority: 'code', projectId: 'b' };
const TEXTS: Backlog = { priority: 'text', projectId: 'a' };

/** How many of ten attempts of the backlog begin. */
function begun(budget: StartBudget, backlog: Backlog): number {
  let count = 0;
  while (count < 10 && budget.allows(backlog)) {
    budget.use(backlog);
    count += 1;
  }
  return count;
}

const MANY = 100;
const NONE_PASS = { passing: () => 0, passingInAll: 0 };

interface Allowed {
  readonly atOnce: number;
  readonly own: number;
  readonly shared: number;
  readonly inAll: number;
}

/** The same of every priority and backlog. */
const budgetOf = ({ own, ...ofPriority }: Allowed) =>
  new StartBudget({
    ofPriority: () => ofPriority,
    ofProject: () => MANY,
    ofBacklog: () => own,
    ...NONE_PASS,
  });

it.each([
  ['what goes out at once, and those that may wait', { atOnce: 2, own: 3, shared: 0, inAll: MANY }, 5],
  ['none while nothing goes out and enough wait', { atOnce: 0, own: 0, shared: 0, inAll: MANY }, 0],
  ['none while more wait than may', { atOnce: -3, own: -1, shared: -2, inAll: -5 }, 0],
  ['those that go out at once although too many wait', { atOnce: 2, own: -1, shared: -1, inAll: -1 }, 2],
  ['as many as take the places of less urgent ones', { atOnce: 1, own: 2, shared: 5, inAll: MANY }, 6],
  ['its own when those are fewer', { atOnce: 1, own: 5, shared: 2, inAll: MANY }, 6],
  ['no more than may wait in all', { atOnce: 1, own: 8, shared: 9, inAll: 3 }, 4],
  ['every one without a limit', { atOnce: Number.POSITIVE_INFINITY, own: 0, shared: 0, inAll: 0 }, 10],
])('of one backlog begin %s', (_, allowed, expected) => {
  expect(begun(budgetOf(allowed), A)).toBe(expected);
});

it('backlogs share what goes out at once, and not their own that may wait', () => {
  const budget = budgetOf({ atOnce: 3, own: 1, shared: 0, inAll: MANY });
  expect([begun(budget, A), begun(budget, B)]).toEqual([4, 1]);
});

it('backlogs of one priority share the places of less urgent ones, and what may wait in all', () => {
  const shared = budgetOf({ atOnce: 0, own: 1, shared: 5, inAll: MANY });
  expect([begun(shared, A), begun(shared, B), begun(shared, TEXTS)]).toEqual([5, 1, 1]);
  const inAll = budgetOf({ atOnce: 0, own: 4, shared: 0, inAll: 6 });
  expect([begun(inAll, A), begun(inAll, B), begun(inAll, TEXTS)]).toEqual([4, 2, 0]);
});

it('what waits of a less urgent priority takes nothing from a more urgent one', () => {
  const budget = budgetOf({ atOnce: 0, own: 4, shared: 0, inAll: 6 });
  expect([begun(budget, TEXTS), begun(budget, A), begun(budget, B)]).toEqual([4, 4, 2]);
});

it('a priority without a limit takes nothing from the others', () => {
  const budget = new StartBudget({
    ofPriority: (priority) => ({
      atOnce: priority === 'code' ? Number.POSITIVE_INFINITY : 2,
      shared: 0,
      inAll: 0,
    }),
    ofProject: () => MANY,
    ofBacklog: () => 0,
    ...NONE_PASS,
  });
  expect([begun(budget, A), begun(budget, TEXTS)]).toEqual([10, 2]);
});

it('no backlog is asked for while nothing more of its priority may begin', () => {
  let asked = 0;
  const budget = new StartBudget({
    ofPriority: () => ({ atOnce: 1, shared: 0, inAll: 2 }),
    ofProject: () => MANY,
    ofBacklog: () => {
      asked += 1;
      return 1;
    },
    ...NONE_PASS,
  });
  const backlogs = Array.from(
    { length: 1_000 },
    (_, n): Backlog => ({ priority: 'code', projectId: `${n}` }),
  );
  expect(backlogs.reduce((sum, backlog) => sum + begun(budget, backlog), 0)).toBe(3);
  expect(asked).toBeLessThanOrEqual(3);
});

it('while too many wait, others of a project pass that go out at once, and no more in all than go out', () => {
  const passing = new Map([
    ['a', 0],
    ['b', 2],
    ['c', 4],
  ]);
  const budget = new StartBudget({
    ofPriority: () => ({ atOnce: 1, shared: 0, inAll: -1 }),
    ofProject: () => MANY,
    ofBacklog: () => -1,
    passing: ({ projectId }) => passing.get(projectId) ?? 0,
    passingInAll: 5,
  });
  const C: Backlog = { priority: 'code', projectId: 'c' };
  expect([begun(budget, A), begun(budget, B), begun(budget, C)]).toEqual([1, 2, 3]);
  expect([A, B, C].map((each) => budget.passes(each))).toEqual([false, false, false]);
});

it('what passes of one priority is counted for all of its project', () => {
  const budget = new StartBudget({
    ofPriority: () => ({ atOnce: 0, shared: 0, inAll: 0 }),
    ofProject: () => MANY,
    ofBacklog: () => 0,
    passing: () => 2,
    passingInAll: MANY,
  });
  expect([begun(budget, TEXTS), begun(budget, A), begun(budget, B)]).toEqual([2, 0, 2]);
});

it('of a project that a provider throttles no more go out at once than its rate allows, and of others all', () => {
  const budget = new StartBudget({
    ofPriority: () => ({ atOnce: 9, shared: 0, inAll: MANY }),
    ofProject: ({ projectId }) => (projectId === 'a' ? 1 : MANY),
    ofBacklog: () => 2,
    ...NONE_PASS,
  });
  // One at once, and two of each backlog that may wait.
  expect([begun(budget, A), begun(budget, TEXTS), begun(budget, B)]).toEqual([3, 2, 10]);
});
