type Fields = Readonly<Record<string, unknown>>;

const BETWEEN_COLUMNS = '  ';
const NOTHING = '-';

/** One line for each field, its name first. A field that is an object has a line for each of its own. */
export function fieldLines(fields: Fields): readonly string[] {
  const entries = entriesOf(fields, '');
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => name.padEnd(width) + BETWEEN_COLUMNS + value);
}

/** A table for terminals with a line of names; numbers are right-aligned. */
export function tableLines(columns: readonly string[], rows: readonly Fields[]): readonly string[] {
  const cells = rows.map((row) => columns.map((column) => textOf(row[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const isNumeric = columns.map((column) => rows.some((row) => typeof row[column] === 'number'));
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return isNumeric[index] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join(BETWEEN_COLUMNS)
      .trimEnd();
  return [columns, ...cells].map(lineOf);
}

function entriesOf(fields: Fields, place: string): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isObject(value) ? entriesOf(value, `${place}${name}.`) : [[place + name, textOf(value)] as const],
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return NOTHING;
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map(textOf).join(',');
  return isObject(value)
    ? entriesOf(value, '')
        .map(([name, text]) => `${name}=${text}`)
        .join(' ')
    : String(value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
