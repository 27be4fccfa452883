import { expect, it } from 'vitest';
import { z } from 'zod';
import { pageFrom, placeOf } from '../../../../src/adapters/http/routing/cursor.ts';

const place = z.tuple([z.number(), z.string()]);
const rowsTo = (count: number) => Array.from({ length: count }, (_, at) => ({ at, id: `id-${at}` }));
const page = (count: number) => pageFrom(rowsTo(count), 3, ({ at, id }) => [at, id]);

it('a page with more rows behind it has a cursor that names its last row', () => {
  const { rows, next } = page(4);
  expect(rows).toEqual(rowsTo(3));
  expect(placeOf(next ?? '', place)).toEqual([2, 'id-2']);
});

it.each([[0], [2], [3]])('a page of %i rows out of 3 is the last one', (count) => {
  expect(page(count)).toEqual({ rows: rowsTo(count), next: null });
});

it.each([['x'], [''], [Buffer.from('[1]').toString('base64url')]])(
  '%j is no cursor of the list',
  (cursor) => {
    expect(() => placeOf(cursor, place)).toThrow('validation-failed');
  },
);
