import { describe, expect, it } from 'vitest';
import { Slices } from '../../../src/application/retention/slices.ts';
import { uncancelled } from '../../support/uncancelled.ts';

/** The rows of the first `count` slices when `rowsPerMs` rows take a millisecond. */
async function slicesOf(budget: { workMs: number; rowsMax: number }, rowsPerMs: number, count: number) {
  let now = 0;
  const slices = new Slices(
    { clock: { now: () => now }, sliceBudget: budget, sliceDelay: uncancelled((over) => over()) },
    new AbortController().signal,
  );
  const sizes: number[] = [];
  await slices.each(async (rows) => {
    sizes.push(rows);
    now += rows / rowsPerMs;
    return sizes.length < count;
  });
  return sizes;
}

describe('slices', () => {
  it('a slice becomes as large as the time of its budget', async () => {
    expect(await slicesOf({ workMs: 15, rowsMax: 1_000 }, 10, 4)).toEqual([50, 100, 150, 150]);
    expect(await slicesOf({ workMs: 50, rowsMax: 1_000 }, 10, 6)).toEqual([50, 100, 200, 400, 500, 500]);
  });

  it('a slice never has more rows than its budget', async () => {
    expect(await slicesOf({ workMs: 50, rowsMax: 120 }, 10, 4)).toEqual([50, 100, 120, 120]);
  });

  it('a slice becomes smaller when its rows take longer', async () => {
    expect(await slicesOf({ workMs: 10, rowsMax: 120 }, 1, 3)).toEqual([50, 10, 10]);
  });
});
