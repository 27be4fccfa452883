import { expect, it } from 'vitest';
import type { Backlog } from '../../../src/domain/jobs/fair-share.ts';
import { StartBudget } from '../../../src/domain/jobs/start-budget.ts';

const A: Backlog = { priority: 'code', projectId: 'a' };
const B: Backlog = { priority: 'code', projectId: 'b' };

/** How many of ten attempts of the backlog begin. */
function begun(budget: StartBudget, backlog: Backlog): number {
  let count = 0;
  while (count < 10 && budget.allows(backlog)) {
    budget.use(backlog);
    count += 1;
  }
  return count;
}

it.each([
  ['what goes out at once, and those that may wait', { atOnce: 2, mayWait: 3 }, 5],
  ['none while nothing goes out and enough wait', { atOnce: 0, mayWait: 0 }, 0],
  ['none while more wait than may', { atOnce: -3, mayWait: -1 }, 0],
  ['those that go out at once although too many wait', { atOnce: 2, mayWait: -1 }, 2],
  ['every one without a limit', { atOnce: Number.POSITIVE_INFINITY, mayWait: 0 }, 10],
])('of one backlog begin %s', (_, left, expected) => {
  expect(begun(new StartBudget(() => ({ ...left })), A)).toBe(expected);
});

it('backlogs share what goes out at once, and not those that may wait', () => {
  const budget = new StartBudget(() => ({ atOnce: 3, mayWait: 1 }));
  expect([begun(budget, A), begun(budget, B)]).toEqual([4, 1]);
});

it('a backlog without a limit takes nothing from the others', () => {
  const budget = new StartBudget(({ projectId }) => ({
    atOnce: projectId === 'a' ? Number.POSITIVE_INFINITY : 2,
    mayWait: 0,
  }));
  expect([begun(budget, A), begun(budget, B)]).toEqual([10, 2]);
});
