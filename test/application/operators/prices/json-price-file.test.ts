import { describe, expect, it, test } from 'vitest';
import {
  type JsonRow,
  readJsonPrices,
} from '../../../../src/application/operators/prices/json-price-file.ts';

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
    ['its name is far before it', `{"international":${' '.repeat(300)}[1]}`],
  ])('it has rows that were not read: %s', async (_, text) => {
    expect(await rowsOf(text)).toMatchObject({ hasOtherRows: true });
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

  it('other work runs after every 200,000 characters of a file', async () => {
    let turns = 0;
    let isDone = false;
    const tick = () => {
      turns += 1;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    await rowsOf(`{"international":[${' '.repeat(1_000_000)}{}]}`);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(5);
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
  });
});
