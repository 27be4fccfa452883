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

it('what was handed over counts for its own backlog, and for all of more urgent priorities', () => {
  const count = handedOver([1, 20, 300, 4_000]);
  expect(ALL.map((backlog) => count.lately(backlog, 8))).toEqual([4_321, 4_020, 4_300, 4_000]);
  expect(count.lately({ priority: 'code', projectId: 'new' }, 8)).toBe(4_320);
});

it('what was handed over counts in its period and in the next one, also when old backlogs are forgotten', () => {
  const count = handedOver([1, 20, 300, 4_000]);
  count.forget(8);
  expect(ALL.map((backlog) => count.lately(backlog, 8))).toEqual([4_321, 4_020, 4_300, 4_000]);
  count.forget(9);
  expect(ALL.map((backlog) => count.lately(backlog, 9))).toEqual([0, 0, 0, 0]);
  count.note(CODES_OF_A, 9);
  expect(ALL.map((backlog) => count.lately(backlog, 9))).toEqual([1, 0, 0, 0]);
});
