import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from '../../../domain/shared/json-text.ts';
import { nextRound } from '../../concurrency/next-round.ts';

/** A row of the list `international`, and the line at which it begins. */
export interface JsonRow {
  readonly line: number;
  /** Undefined for what is no JSON. */
  readonly value: unknown;
}

/** What a file has beside its international rows. */
export interface JsonPriceFile {
  /** The object with an empty list in place of the rows; undefined for what is no JSON. */
  readonly head: unknown;
  readonly hasRows: boolean;
  /** Whether there are rows that were not read: the list is there twice, or its key is written in an odd way. */
  readonly hasOtherRows: boolean;
}

/** The text that is read before other work may run, in UTF-16 code units. */
const SLICE_CHARACTERS = 200_000;
const ROW_CHARACTERS_MAX = 10_000;
const HEAD_CHARACTERS_MAX = 64 * 1024;
const ROWS_PER_SLICE = 500;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;

const LIST_KEY = /"international"\s*:\s*$/;
/** What may stand between the key and its list: the key is searched in no more. */
const KEY_CHARACTERS_MAX = 200;

/**
 * Reads a price list in JSON without parsing it as a whole, which would hold up the process: the rows of the list
 * `international` are parsed one by one. Rows go to `take` in their order until it returns false.
 */
export async function readJsonPrices(text: string, take: (row: JsonRow) => boolean): Promise<JsonPriceFile> {
  const list = { start: -1, end: -1 };
  let depth = 0;
  let inString = false;
  let line = 1;
  let row = rowAt(0);
  let rows = 0;
  let isRepeated = false;
  let nextPause = SLICE_CHARACTERS;
  const hasMore = (end: number): boolean => {
    // An empty list has one empty row.
    if (rows === 0 && text.charCodeAt(end) === CLOSING_BRACKET && row.line === null) return true;
    rows += 1;
    return take({ line: row.line ?? line, value: parsed(text.slice(row.start, end), ROW_CHARACTERS_MAX) });
  };
  for (let index = 0; index < text.length; index += 1) {
    if (index >= nextPause) {
      await nextRound();
      nextPause = index + SLICE_CHARACTERS;
    }
    const unit = text.charCodeAt(index);
    if (unit === LINE_FEED) line += 1;
    if (inString) {
      if (unit === BACKSLASH) index += 1;
      else if (unit === QUOTE) inString = false;
      continue;
    }
    const isInList = list.start !== -1 && list.end === -1;
    const endsRow = depth === 2 && (unit === COMMA || unit === CLOSING_BRACKET || unit === CLOSING_BRACE);
    if (isInList && row.line === null && !endsRow && !isWhiteSpace(unit)) row.line = line;
    if (unit === QUOTE) {
      inString = true;
    } else if (unit === OPENING_BRACKET || unit === OPENING_BRACE) {
      depth += 1;
      if (unit === OPENING_BRACKET && depth === 2) {
        const key = text.slice(Math.max(0, index - KEY_CHARACTERS_MAX), index);
        const isList = LIST_KEY.test(key);
        isRepeated ||= isList && list.start !== -1;
        if (isList && list.start === -1) {
          list.start = index + 1;
          row = rowAt(list.start);
        }
      }
    } else if (unit === CLOSING_BRACKET || unit === CLOSING_BRACE) {
      if (isInList && depth === 2) {
        list.end = index;
        if (!hasMore(index)) break;
      }
      depth -= 1;
    } else if (unit === COMMA && isInList && depth === 2) {
      if (!hasMore(index)) break;
      row = rowAt(index + 1);
      if (rows % ROWS_PER_SLICE === 0) await nextRound();
    }
  }
  const { start, end } = list;
  const rest = start === -1 || end === -1 ? text : text.slice(0, start) + text.slice(end);
  const head = parsed(rest, HEAD_CHARACTERS_MAX);
  return { head, hasRows: start !== -1, hasOtherRows: isRepeated || hasRowsOf(head) };
}

function hasRowsOf(head: unknown): boolean {
  const { international } = Object(head) as { readonly international?: unknown };
  return Array.isArray(international) && international.length > 0;
}

/** A row whose text begins at `start`. Its line is null until there is a character that is no white space. */
function rowAt(start: number): { readonly start: number; line: number | null } {
  return { start, line: null };
}

/** As RFC 8259 has it. */
function isWhiteSpace(unit: number): boolean {
  return unit === SPACE || unit === TAB || unit === LINE_FEED || unit === CARRIAGE_RETURN;
}

function parsed(source: string, charactersMax: number): unknown {
  if (source.length > charactersMax) return undefined;
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}
