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
  const scan = new RowScan(text, take);
  while (scan.readSlice()) await nextRound();
  return scan.file();
}

/** Finds the rows of the list `international` in a text, character by character. */
class RowScan {
  readonly #text: string;
  readonly #take: (row: JsonRow) => boolean;
  #index = 0;
  #line = 1;
  /** How many objects and lists are open. */
  #depth = 0;
  #inString = false;
  /** The list: where its first row begins, and where its bracket closes. */
  #listStart: number | null = null;
  #listEnd: number | null = null;
  #isRepeated = false;
  #rows = 0;
  #rowStart = 0;
  /** The line of the first character of the row that is no white space; null before there is one. */
  #rowLine: number | null = null;
  #wantsMore = true;

  constructor(text: string, take: (row: JsonRow) => boolean) {
    this.#text = text;
    this.#take = take;
  }

  /** Reads as much as may be read at a time. Returns whether there is more. */
  readSlice(): boolean {
    const end = Math.min(this.#index + SLICE_CHARACTERS, this.#text.length);
    const rowsEnd = this.#rows + ROWS_PER_SLICE;
    while (this.#index < end && this.#rows < rowsEnd && this.#wantsMore) {
      const unit = this.#text.charCodeAt(this.#index);
      if (unit === LINE_FEED) this.#line += 1;
      if (this.#inString) this.#readInString(unit);
      else this.#read(unit);
      this.#index += 1;
    }
    return this.#index < this.#text.length && this.#wantsMore;
  }

  file(): JsonPriceFile {
    const head = parsed(this.#withoutRows(), HEAD_CHARACTERS_MAX);
    const hasOtherRows = this.#isRepeated || hasRowsOf(head);
    return { head, hasRows: this.#listStart !== null, hasOtherRows };
  }

  #readInString(unit: number): void {
    if (unit === BACKSLASH) this.#index += 1;
    else if (unit === QUOTE) this.#inString = false;
  }

  #read(unit: number): void {
    const isAtRow = this.#depth === 2 && this.#listStart !== null && this.#listEnd === null;
    switch (unit) {
      case COMMA:
        if (!isAtRow) return;
        this.#endRow();
        this.#beginRow();
        return;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        if (isAtRow) this.#endList(unit);
        this.#depth -= 1;
        return;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        this.#noteLine();
        this.#depth += 1;
        if (unit === OPENING_BRACKET && this.#depth === 2) this.#beginList();
        return;
      case QUOTE:
        this.#noteLine();
        this.#inString = true;
        return;
      default:
        if (!isWhiteSpace(unit)) this.#noteLine();
    }
  }

  #beginList(): void {
    const key = this.#text.slice(Math.max(0, this.#index - KEY_CHARACTERS_MAX), this.#index);
    if (!LIST_KEY.test(key)) return;
    if (this.#listStart !== null) {
      this.#isRepeated = true;
      return;
    }
    this.#listStart = this.#index + 1;
    this.#beginRow();
  }

  #endList(unit: number): void {
    this.#listEnd = this.#index;
    // An empty list has one empty row.
    const isEmpty = this.#rows === 0 && unit === CLOSING_BRACKET && this.#rowLine === null;
    if (!isEmpty) this.#endRow();
  }

  #beginRow(): void {
    this.#rowStart = this.#index + 1;
    this.#rowLine = null;
  }

  #noteLine(): void {
    this.#rowLine ??= this.#line;
  }

  #endRow(): void {
    this.#rows += 1;
    const value = parsed(this.#text.slice(this.#rowStart, this.#index), ROW_CHARACTERS_MAX);
    this.#wantsMore = this.#take({ line: this.#rowLine ?? this.#line, value });
  }

  #withoutRows(): string {
    if (this.#listStart === null || this.#listEnd === null) return this.#text;
    return this.#text.slice(0, this.#listStart) + this.#text.slice(this.#listEnd);
  }
}

function hasRowsOf(head: unknown): boolean {
  const { international } = Object(head) as { readonly international?: unknown };
  return Array.isArray(international) && international.length > 0;
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
