import type { Row, Value } from '../driver/connection.ts';

/*
 * The functions are written as source, with the names of the columns in it: the engine then knows the shape of a row. Name by
 * name, filling or reading a row takes over ten times as long: that was a fiftieth of the time of a message.
 */

/** Makes a row of the values of these columns. */
export function rowReader(columns: readonly string[]): (values: readonly Value[]) => Row {
  const members = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`);
  return new Function('values', `return { ${members.join(', ')} };`) as ReturnType<typeof rowReader>;
}

/** Lists the values of a row in the order of these columns. */
export function rowWriter(columns: readonly string[]): (row: Row) => Value[] {
  const values = columns.map((name) => `row[${JSON.stringify(name)}]`);
  return new Function('row', `return [${values.join(', ')}];`) as ReturnType<typeof rowWriter>;
}

/**
 * Lists the values of `count` rows from an index on, one row after the other, each in the order of these columns. A list for each
 * row, and `flat` of them, took a twentieth of the time of a message.
 */
export function rowsWriter(
  columns: readonly string[],
  count: number,
): (rows: readonly Row[], from: number) => Value[] {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const rows = indexes.map((index) => `row${index} = rows[from + ${index}]`);
  const values = indexes.flatMap((index) => columns.map((name) => `row${index}[${JSON.stringify(name)}]`));
  return new Function(
    'rows',
    'from',
    `const ${rows.join(', ')}; return [${values.join(', ')}];`,
  ) as ReturnType<typeof rowsWriter>;
}
