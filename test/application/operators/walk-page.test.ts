import { describe, expect, it } from 'vitest';
import { cutPage, sliceOf, walkPage } from '../../../src/application/operators/walk-page.ts';

/** A list of the numbers 1 to `count`, whose places are the numbers themselves; notes each read. */
function listOf(count: number) {
  const reads: [after: number, limit: number][] = [];
  const read = async (after: number | null, limit: number) => {
    const from = after ?? 0;
    reads.push([from, limit]);
    const rows = Array.from({ length: Math.max(0, Math.min(limit, count - from)) }, (_, n) => from + n + 1);
    return sliceOf(rows, limit, (row) => row);
  };
  const walk = (
    matches: (row: number) => boolean,
    limit: number,
    isDense = false,
    after: number | null = null,
  ) => walkPage({ read, placeOf: (row: number) => row, matches, after, limit, isDense });
  return { reads, walk };
}

const hundreds = (row: number) => row % 100 === 0;

describe('a page of a list of which not every row is shown', () => {
  it('a page has the rows that match, and goes on behind the last of them', async () => {
    const { walk, reads } = listOf(1_000);
    expect(await walk(hundreds, 3)).toEqual({ rows: [100, 200, 300], next: 300 });
    expect(await walk(hundreds, 3, false, 300)).toEqual({ rows: [400, 500, 600], next: 600 });
    expect(reads).toEqual([
      [0, 500],
      [300, 500],
    ]);
  });

  it('a page that is exactly full at the end of the list has no next one', async () => {
    expect(await listOf(300).walk(hundreds, 3)).toEqual({ rows: [100, 200, 300], next: null });
    expect(await listOf(400).walk(hundreds, 3)).toEqual({ rows: [100, 200, 300], next: 300 });
  });

  it('a page is short after 1,000 rows, and goes on behind them', async () => {
    const { walk, reads } = listOf(5_000);
    expect(await walk((row) => row === 700, 3)).toEqual({ rows: [700], next: 1_000 });
    expect(await walk(() => false, 3, false, 1_000)).toEqual({ rows: [], next: 2_000 });
    expect(reads).toEqual([
      [0, 500],
      [500, 500],
      [1_000, 500],
      [1_500, 500],
    ]);
  });

  it('the list is read no further than its end', async () => {
    const { walk, reads } = listOf(499);
    expect(await walk(() => false, 3)).toEqual({ rows: [], next: null });
    expect(reads).toEqual([[0, 500]]);
  });

  it('of a list in which most rows match little more than a page is read', async () => {
    const { walk, reads } = listOf(1_000);
    expect(await walk(() => true, 3, true)).toEqual({ rows: [1, 2, 3], next: 3 });
    expect(reads).toEqual([[0, 4]]);
  });

  it('a page of no rows is empty', async () => {
    expect(await listOf(10).walk(() => true, 0)).toEqual({ rows: [], next: null });
  });
});

describe('one read of a walk', () => {
  it('fewer rows than the limit are the end of a list', () => {
    const placeOf = (row: string) => row.length;
    expect(sliceOf(['a', 'bb'], 2, placeOf)).toEqual({ rows: ['a', 'bb'], next: 2 });
    expect(sliceOf(['a', 'bb'], 3, placeOf)).toEqual({ rows: ['a', 'bb'], next: null });
    expect(sliceOf([], 3, placeOf)).toEqual({ rows: [], next: null });
    expect(sliceOf([], 0, placeOf)).toEqual({ rows: [], next: null });
  });
});

describe('a page of a list that is read at once', () => {
  const rowsTo = (count: number) => Array.from({ length: count }, (_, at) => ({ at, id: `id-${at}` }));
  const page = (count: number) => cutPage(rowsTo(count), 3, ({ at, id }) => ({ at, id }));

  it('a page with more rows behind it goes on behind its last row', () => {
    expect(page(4)).toEqual({ rows: rowsTo(3), next: { at: 2, id: 'id-2' } });
  });

  it.each([[0], [2], [3]])('a page of %i rows out of 3 is the last one', (count) => {
    expect(page(count)).toEqual({ rows: rowsTo(count), next: null });
  });
});
