/** The fields of a receipt's text that are read, as they are written. */
export interface ReceiptFields {
  readonly id: string | null;
  readonly state: string | null;
  readonly error: string | null;
}

type Field = keyof ReceiptFields | 'text' | 'other';

/**
 * How SMSCs name the fields, in small letters. Two words stand together, or with a space, an underscore or a hyphen between them.
 */
const NAMES: readonly (readonly [Field, readonly string[]])[] = [
  ['id', ['id', 'message id', 'msg id']],
  ['state', ['stat', 'state', 'status', 'message state']],
  ['error', ['err', 'error', 'err code', 'error code']],
  ['text', ['text', 'txt']],
  ['other', ['sub', 'dlvrd', 'submit date', 'done date']],
];

const FIELDS: ReadonlyMap<string, Field> = new Map(
  NAMES.flatMap(([field, names]) =>
    names.flatMap((name) =>
      ['', ' ', '_', '-'].map((between): [string, Field] => [name.replace(' ', between), field]),
    ),
  ),
);

/** The words that another one may stand before, with a space. */
const SECOND_WORDS: ReadonlySet<string> = new Set(['id', 'state', 'code', 'date']);

/** Null for a field without a value, and undefined for none. */
type Values = Record<keyof ReceiptFields, string | null | undefined>;

/** A name of a field: it begins at the index `start`. */
interface Label {
  readonly field: Field;
  readonly start: number;
}

const SPACE = 0x20;
const COLON = 0x3a;
const EQUALS = 0x3d;

/**
 * The first field of each name: the words of the message may stand behind it, and a customer may write `stat:` there. What
 * follows `text:` is not read. Where `text:` is the first field, the words stand in front, and the last field of each name
 * counts.
 */
export function receiptFields(text: string): ReceiptFields {
  const values: Values = { id: undefined, state: undefined, error: undefined };
  let doesLastCount = false;
  /** The field whose value begins at `from`. */
  let open: Field | null = null;
  let from = 0;
  const close = (end: number): void => {
    if (open === null || open === 'text' || open === 'other') return;
    if (doesLastCount || values[open] === undefined) values[open] = firstWord(text, from, end);
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const label = code === COLON || code === EQUALS ? labelBefore(text, at) : null;
    if (label === null) continue;
    close(label.start);
    if (label.field === 'text') {
      if (open !== null && !doesLastCount) return fieldsOf(values);
      doesLastCount = true;
    }
    open = label.field;
    from = at + 1;
  }
  close(text.length);
  return fieldsOf(values);
}

function fieldsOf({ id = null, state = null, error = null }: Values): ReceiptFields {
  return { id, state, error };
}

/** The name that ends before a colon or an equals sign, as long as possible. */
function labelBefore(text: string, separator: number): Label | null {
  let end = separator;
  while (isSpace(text.charCodeAt(end - 1))) end -= 1;
  const start = startOfWord(text, end);
  const word = nameIn(text, start, end);
  if (SECOND_WORDS.has(word) && text.charCodeAt(start - 1) === SPACE) {
    const first = startOfWord(text, start - 1);
    const field = FIELDS.get(nameIn(text, first, end));
    if (field !== undefined) return { field, start: first };
  }
  const field = FIELDS.get(word);
  return field === undefined ? null : { field, start };
}

/** In small letters, as nearly every SMSC writes it. */
function nameIn(text: string, start: number, end: number): string {
  const written = text.slice(start, end);
  return FIELDS.has(written) ? written : written.toLowerCase();
}

/** What stands before a space, a comma, a semicolon, a bar or the end; null when that is nothing. */
function firstWord(text: string, from: number, end: number): string | null {
  let start = from;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  let at = start;
  while (at < end && !isEndOfValue(text.charCodeAt(at))) at += 1;
  return at === start ? null : text.slice(start, at);
}

function startOfWord(text: string, end: number): number {
  let start = end;
  while (isOfWord(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

/** A letter or a digit of ASCII, an underscore or a hyphen. False for what `charCodeAt` gives outside of a text. */
function isOfWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d
  );
}

function isEndOfValue(code: number): boolean {
  return code === 0x2c || code === 0x3b || code === 0x7c || isSpace(code);
}

function isSpace(code: number): boolean {
  if (code < 0x80) return code === SPACE || (code >= 0x09 && code <= 0x0d);
  return /\s/.test(String.fromCharCode(code));
}
