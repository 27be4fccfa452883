import { expect, it } from 'vitest';
import { HandedOver } from '../../../src/application/attempts/handed-over.ts';
import type { Backlog } from '../../../src/domain/jobs/fair-share.ts';

const CODES_OF_A: Backlog = { priority: 'code', projectId: 'a' };
const TEXTS_OF_A: Backlog = { priority: 'text', projectId: 'a' };
const TEXTS_OF_B: Backlog = { priority: 'text', projectId: 'b' };
const CAMPAIGNS_OF_B: Backlog = { priority: 'campaign', projectId: 'b' };
const ALL = [CODES_OF_A, TEXTS_OF_A, TEXTS_OF_B, CAMPAIGNS_OF_B];

function handedOver(counts: readonly number[]): HandedOver {
  const count = new HandedOver();
  for (const [index, times] of counts.entries()) {
    for (let left = times; left > 0; left -= 1) count.note(ALL[index] as Backlog, 7);
  }
  return count;
}

it('what was handed over counts by backlog, by less urgent priorities and in all', () => {
  const count = handedOver([1, 20, 300, 4_000]);
  expect(ALL.map((backlog) => count.ofBacklog(backlog, 8))).toEqual([1, 20, 300, 4_000]);
  const priorities = ['code', 'text', 'campaign'] as const;
  expect(priorities.map((priority) => count.lessUrgentThan(priority, 8))).toEqual([4_320, 4_000, 0]);
  expect(count.ofAll(8)).toBe(4_321);
});

it('what was handed over counts in its period and in the next one, also when old backlogs are forgotten', () => {
  const count = handedOver([1, 20, 300, 4_000]);
  count.forget(8);
  expect([count.ofBacklog(CODES_OF_A, 8), count.ofAll(8)]).toEqual([1, 4_321]);
  count.forget(9);
  expect([count.ofBacklog(CODES_OF_A, 9), count.lessUrgentThan('code', 9), count.ofAll(9)]).toEqual([
    0, 0, 0,
  ]);
  count.note(CODES_OF_A, 9);
  expect([count.ofBacklog(CODES_OF_A, 9), count.ofAll(9)]).toEqual([1, 1]);
});
