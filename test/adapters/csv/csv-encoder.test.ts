import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it, test } from 'vitest';
import { csvEncoder } from '../../../src/adapters/csv/csv-encoder.ts';

/** A parser that is not of the library that wrote the text. */
const parsed = (text: string) =>
  Papa.parse<string[]>(text, { delimiter: ',', newline: '\r\n' }).data.slice(0, -1);

const FORMULA = /^[=+\-@\t\r＝＋－＠]/u;

describe('the csv of reports', () => {
  it('cells are quoted where they need it, and lines end with CR LF', () => {
    expect(csvEncoder([['plain', 'a,b', 'say "no"', 'two\nlines', '', 'باريد']])).toBe(
      'plain,"a,b","say ""no""","two\nlines",,باريد\r\n',
    );
  });

  it('no rows are no text', () => {
    expect(csvEncoder([])).toBe('');
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '＝1', '＋1', '－1', '＠x'])(
    'the cell %j, which a spreadsheet would take for a formula, begins with an apostrophe',
    (cell) => {
      expect(parsed(csvEncoder([[cell, 'x']]))).toEqual([[`'${cell}`, 'x']]);
    },
  );

  it('another parser reads the same cells back, but for the apostrophe of formulas', () => {
    const part = fc.constantFrom(
      '"',
      ',',
      '\n',
      '\r\n',
      ' ',
      '=',
      '+',
      '-',
      '@',
      ';',
      'باريد',
      'کوردی',
      '👍',
      'a',
      '0',
    );
    const cell = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(rows, (given) => {
        const expected = given.map((row) => row.map((each) => (FORMULA.test(each) ? `'${each}` : each)));
        expect(parsed(csvEncoder(given))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
