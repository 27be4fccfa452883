import { describe, expect, it, test } from 'vitest';
import { csvDecoder } from '../../../src/adapters/csv/csv-decoder.ts';
import type { CsvRecord } from '../../../src/application/ports/csv-decoder.ts';

async function recordsOf(text: string): Promise<readonly CsvRecord[]> {
  const records: CsvRecord[] = [];
  for await (const batch of csvDecoder(Buffer.from(text))) records.push(...batch);
  return records;
}

describe('csv that is decoded', () => {
  it('csv may have a byte order mark, either line end, quoted cells, empty lines and rows of any length', async () => {
    expect(await recordsOf('\uFEFFa,b\r\n"x, ""y""",1\r\n\r\n"two\nlines",2,3\nعربي')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x, "y"', '1'] },
      { line: 5, cells: ['two\nlines', '2', '3'] },
      { line: 6, cells: ['عربي'] },
    ]);
    expect(await recordsOf('')).toEqual([]);
  });

  it('csv of many chunks comes in batches, in its order', async () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `${index},شبكة`).join('\n');
    const records = await recordsOf(text);
    expect(records).toHaveLength(20_000);
    expect(
      records.every(({ line, cells }, index) => line === index + 1 && cells.join() === `${index},شبكة`),
    ).toBe(true);
  });

  it('a row has up to a thousand commas, and those in quoted cells do not count', async () => {
    const row = `"${','.repeat(2_000)}"${','.repeat(1_000)}`;
    const records = await recordsOf(`${row}\n${row}\r${row}`);
    expect(records.map(({ cells }) => cells.length)).toEqual([1_001, 1_001, 1_001]);
  });

  it('other work runs after each chunk, also while a file has no records', async () => {
    let turns = 0;
    let isDone = false;
    const tick = () => {
      turns += 1;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    expect(await recordsOf('\n'.repeat(4 * 1024 * 1024))).toEqual([]);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(64);
  });

  test.each([
    ['a quoted cell has no end', 2, 'a,b\n1,"x'],
    ['a quote stands inside a cell: quote the cell, and double the quote', 2, 'a,b\n1,x"y\n'],
    ['a quote stands inside a cell: quote the cell, and double the quote', 2, 'a,b\n1,"x"y\n'],
    ['a row has more than 10000 characters', 2, `a\n${'x'.repeat(20_000)}`],
    ['a row has more than 1000 commas', 1, ','.repeat(1_001)],
    ['a row has more than 1000 commas', 3, `a\r\n${','.repeat(600)}"\n"${','.repeat(401)}`],
  ])('what is no csv is named with its line: %s, line %i', async (message, line, text) => {
    await expect(recordsOf(text)).rejects.toMatchObject({ name: 'InvalidCsv', line, message });
  });
});
