import { isJsonObject } from '../../../domain/shared/same-json.ts';

type Fields = Readonly<Record<string, unknown>>;

const BETWEEN_COLUMNS = '  ';
const NOTHING = '-';
/**
 * Control characters, marks of direction and ends of lines: a terminal would obey them. The joiner and the non-joiner of letters
 * (U+200D, U+200C) are left: Kurdish and Persian are written with them.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** One line for each field, its name first. A field that is an object has a line for each of its own. */
export function fieldLines(fields: Fields): readonly string[] {
  const entries = entriesOf(fields, '');
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => name.padEnd(width) + BETWEEN_COLUMNS + value);
}

/** Two sides of a change: a line for each field of either, with both values, or the one that stayed. */
export function changeLines(before: Fields | null, after: Fields | null): readonly string[] {
  const earlier = new Map(entriesOf(before ?? {}, ''));
  const later = new Map(entriesOf(after ?? {}, ''));
  const names = [...new Set([...earlier.keys(), ...later.keys()])];
  return names.map((name) => {
    const [from = NOTHING, to = NOTHING] = [earlier.get(name), later.get(name)];
    return `${name}: ${from === to ? to : `${from} -> ${to}`}`;
  });
}

/** A table for terminals with a line of names; numbers are right-aligned. Below each row stand its `details`. */
export function tableLines(
  columns: readonly string[],
  rows: readonly Fields[],
  details: (row: Fields) => readonly string[] = () => [],
): readonly string[] {
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
  const indented = (row: Fields) => details(row).map((line) => BETWEEN_COLUMNS + line);
  return [lineOf(columns), ...rows.flatMap((row, index) => [lineOf(cells[index] ?? []), ...indented(row)])];
}

/** The fields as `fieldLines` has them; below, a table under its name for each list of objects. */
export function recordLines(fields: Fields): readonly string[] {
  const lists = Object.entries(fields).flatMap(([name, value]): [string, readonly Fields[]][] =>
    isListOfObjects(value) ? [[name, value]] : [],
  );
  const inLists = new Set(lists.map(([name]) => name));
  const others = Object.entries(fields).filter(([name]) => !inLists.has(name));
  return [
    ...fieldLines(Object.fromEntries(others)),
    ...lists.flatMap(([name, rows]) => ['', `${name}:`, ...tableLines(columnsOf(rows), rows)]),
  ];
}

function columnsOf(rows: readonly Fields[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

function isListOfObjects(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isJsonObject);
}

function entriesOf(fields: Fields, place: string): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isJsonObject(value)
      ? entriesOf(value, `${place}${name}.`)
      : [[escaped(place + name), textOf(value)] as const],
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return NOTHING;
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map(textOf).join(',');
  return isJsonObject(value)
    ? entriesOf(value, '')
        .map(([name, text]) => `${name}=${text}`)
        .join(' ')
    : escaped(String(value));
}

/** The text on one line, with what nobody would see as escapes of JSON. */
export function escaped(text: string): string {
  return text.replace(INVISIBLE, (character) => SHORT_ESCAPES.get(character) ?? codeUnitEscapes(character));
}

function codeUnitEscapes(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
