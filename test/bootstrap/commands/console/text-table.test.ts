import { describe, expect, it } from 'vitest';
import {
  changeLines,
  fieldLines,
  recordLines,
  tableLines,
} from '../../../../src/bootstrap/commands/console/text-table.ts';

const HOSTILE = 'a\nb\r\t\u001b[2J\u202ec\u2028\u{e0001}';
const ESCAPED = 'a\\nb\\r\\t\\u001b[2J\\u202ec\\u2028\\udb40\\udc01';

describe('a table for terminals', () => {
  it('a table has no control character, no mark of direction and no line end in a cell', () => {
    expect(tableLines(['text', 'n'], [{ text: HOSTILE, n: 1 }])).toEqual([
      `${'text'.padEnd(ESCAPED.length)}  n`,
      `${ESCAPED}  1`,
    ]);
    expect(
      fieldLines({ a: HOSTILE, b: [HOSTILE], c: { [HOSTILE]: 'x' } }).map((line) => line.trim()),
    ).toEqual([
      `${'a'.padEnd(ESCAPED.length + 2)}  ${ESCAPED}`,
      `${'b'.padEnd(ESCAPED.length + 2)}  ${ESCAPED}`,
      `c.${ESCAPED}  x`,
    ]);
    expect(recordLines({ list: [{ text: HOSTILE }] })).toEqual(['', 'list:', 'text', ESCAPED]);
  });

  it('a table keeps the joiner and the non-joiner of letters, and escapes their neighbours', () => {
    const text = 'می\u200cخواهم ب\u200dە \u200b\u200e\u200f';
    expect(tableLines(['text'], [{ text }])[1]).toBe('می\u200cخواهم ب\u200dە \\u200b\\u200e\\u200f');
  });

  it('a row has its details below it, which are no wider for that', () => {
    const before = { name: 'a', x: 1, y: { z: null } };
    const after = { name: 'a', x: 2, y: { z: [HOSTILE] } };
    expect(tableLines(['name'], [{ name: 'a' }], () => changeLines(before, after))).toEqual([
      'name',
      'a',
      '  name: a',
      '  x: 1 -> 2',
      `  y.z: - -> ${ESCAPED}`,
    ]);
    expect(changeLines(null, { x: 1 })).toEqual(['x: - -> 1']);
    expect(changeLines({ x: 1 }, null)).toEqual(['x: 1 -> -']);
  });

  it('a table keeps every script as it is', () => {
    expect(tableLines(['text'], [{ text: 'سڵاو ✅ ب' }])).toEqual(['text', 'سڵاو ✅ ب']);
  });
});
