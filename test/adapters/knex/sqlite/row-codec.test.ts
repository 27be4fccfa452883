import { expect, it } from 'vitest';
import { rowsWriter } from '../../../../src/adapters/knex/sqlite/row-codec.ts';

it('rowsWriter lists the values of rows from an index on, each row in the order of the columns', () => {
  const rows = [
    { second: 'b0', first: 'a0' },
    { first: 'a1', second: 'b1' },
    { second: null, first: 'a2' },
    { first: 'a3', second: 3 },
  ];
  const ofTwo = rowsWriter(['first', 'second'], 2);
  expect(ofTwo(rows, 0)).toEqual(['a0', 'b0', 'a1', 'b1']);
  expect(ofTwo(rows, 1)).toEqual(['a1', 'b1', 'a2', null]);
  expect(rowsWriter(['first', 'second'], 1)(rows, 3)).toEqual(['a3', 3]);
});
