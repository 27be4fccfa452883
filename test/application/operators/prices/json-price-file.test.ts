import { describe, expect, it, test } from 'vitest';
import {
  type JsonRow,
  readJsonPrices,
} from '../../../../src/application/operators/prices/json-price-file.ts';
import { roundsDuring } from '../../../support/rounds-during.ts';

async function rowsOf(text: string, max = Number.POSITIVE_INFINITY) {
  const rows: JsonRow[] = [];
  const file = await readJsonPrices(text, (row) => rows.push(row) < max);
  return { ...file, rows };
}

describe('a price list in JSON that is read row by row', () => {
  test.each([
    '{"telegram":1,"international":[{"a":"],}\\""},{"b":[1,{"c":2}]}]}',
    '{"international":[],"sms":{"x":[1,2]}}',
    '{"international": [ ] }',
    '{"telegram":1}',
    '{"sms":{"international":[1]},"international":[2]}',
    '[{"international":[1]}]',
    '7',
  ])('it has the same content as the whole file: %s', async (text) => {
    const { head, rows, hasRows, hasOtherRows } = await rowsOf(text);
    const whole = JSON.parse(text);
    const list = Array.isArray(whole) ? undefined : whole.international;
    expect(hasRows).toBe(list !== undefined);
    expect(hasOtherRows).toBe(false);
    expect(head).toEqual(list === undefined ? whole : { ...whole, international: [] });
    expect(rows.map(({ value }) => value)).toEqual(list ?? []);
  });

  test.each([
    ['the list is there twice', '{"international":[1],"international":[2]}'],
    ['the second list is empty', '{"international":[1],"international":[]}'],
    ['the first list is empty', '{"international":[],"telegram":1,"international":[2]}'],
    ['its name has an escape', '{"interna\\u0074ional":[1]}'],
    ['the rows of both are told apart', '{"international":[1],"telegram":1,"international":[2,3]}'],
    ['its name is far before it', `{"international":${' '.repeat(300)}[1]}`],
  ])('it has rows that were not read: %s', async (_, text) => {
    expect(await rowsOf(text)).toMatchObject({ hasOtherRows: true });
  });

  test.each([
    ['its list is that of another name', '{"international":7,"x":[1]}'],
    ['its value is an object', '{"international":{"a":1}}'],
    ['its name is longer', '{"internationals":[1]}'],
  ])('a file has no rows when %s', async (_, text) => {
    const { head, rows, hasRows } = await rowsOf(text);
    expect({ head, rows, hasRows }).toEqual({ head: JSON.parse(text), rows: [], hasRows: false });
  });

  test.each(['{"international" :[1]}', '{"international"\n\t:\r\n [1]}'])(
    'white space may stand between the name and the list: %j',
    async (text) => {
      expect(await rowsOf(text)).toMatchObject({ hasRows: true, rows: [{ value: 1 }] });
    },
  );

  test.each([' ', '\t', '\r'])('white space before a row is not its beginning: %j', async (space) => {
    const { rows } = await rowsOf(`{"international":[${space}\n{}]}`);
    expect(rows).toEqual([{ line: 2, value: {} }]);
  });

  it('each row has the line at which it begins', async () => {
    const { rows } = await rowsOf('{\n"international": [\n  {},\n\n  {\n "a": 1 }, {}\n]}');
    expect(rows.map(({ line }) => line)).toEqual([3, 5, 6]);
  });

  it('an empty row has the line at which it ends', async () => {
    const { rows } = await rowsOf('{"international":[\n\n,\n{}]}');
    expect(rows).toEqual([
      { line: 3, value: undefined },
      { line: 4, value: {} },
    ]);
  });

  test.each([
    ['200,000 characters', ' '.repeat(1_000_000), 5],
    ['500 rows', '{},'.repeat(1_500), 3],
  ])('other work runs after every %s of a file', async (_, text, pauses) => {
    const rounds = await roundsDuring(() => rowsOf(`{"international":[${text}{}]}`));
    expect(rounds).toBeGreaterThanOrEqual(pauses);
    expect(rounds).toBeLessThanOrEqual(pauses + 1);
  });

  it('a row that is no JSON is undefined, and the others are read', async () => {
    const { rows } = await rowsOf('{"international":[{},,{"a":},{"b":1},]}');
    expect(rows.map(({ value }) => value)).toEqual([{}, undefined, undefined, { b: 1 }, undefined]);
  });

  test.each(['', '{', '{"international":[{}', '{"international":[{}]', '{"international":[]}}', 'x'])(
    'a file that is no JSON has no head: %j',
    async (text) => {
      expect((await rowsOf(text)).head).toBeUndefined();
    },
  );

  it('the reader ends when no more rows are taken', async () => {
    expect((await rowsOf('{"international":[1,2,3,4]}', 2)).rows).toHaveLength(2);
  });

  it('a row and a head that are far too long are not parsed', async () => {
    const long = 'x'.repeat(70_000);
    expect((await rowsOf(`{"international":["${long}",1]}`)).rows.map(({ value }) => value)).toEqual([
      undefined,
      1,
    ]);
    expect((await rowsOf(`{"telegram":"${long}"}`)).head).toBeUndefined();
    const [row, head] = [JSON.stringify('x'.repeat(9_998)), { telegram: 'x'.repeat(65_521) }];
    expect((await rowsOf(`{"international":[${row}]}`)).rows).toEqual([{ line: 1, value: JSON.parse(row) }]);
    expect(JSON.stringify(head)).toHaveLength(65_536);
    expect((await rowsOf(JSON.stringify(head))).head).toEqual(head);
  });
});
