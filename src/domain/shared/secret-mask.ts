import { cutText } from './storable-text.ts';

/** More than is stored of a provider's reason, and more than a pattern sees, in UTF-16 units. */
const REASON_CHARACTERS_READ_MAX = 2_048;

/** What stands in place of text that may not be shown. */
export const MASK = '***';
/** A shorter piece of a secret tells nothing. In bytes. */
const PIECE_BYTES_MIN = 4;
/** JSON in JSON, or a percent-encoded text in a percent-encoded url. */
const ESCAPED_TIMES_MAX = 2;
/** The places in a group of three bytes at which a secret in base64 may begin. */
const BASE64_PLACES = [0, 1, 2];
const BASE64_BITS = 6;

const ASCII = /^[\0-\x7f]*$/;
/** Each alternative has a limit to its length, so that a search takes time in proportion to the text. */
const ESCAPE = new RegExp(
  [
    String.raw`(?:%|\\x)([0-9a-f]{2})`,
    String.raw`\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})`,
    String.raw`\\u([0-9a-f]{4})`,
    '&#([0-9]{1,8});',
    '&#x([0-9a-f]{1,8});',
    '&([a-z]{2,6});',
    String.raw`\\([^ux])`,
    String.raw`\+`,
  ].join('|'),
  'gi',
);
/** The beginning of an escape at the end of a text. */
const CUT_ESCAPE = /(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|&[#0-9a-z]{0,9})$/i;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** The signs of ASCII that have a name in HTML, each before its name. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  [
    '!excl "quot #num $dollar %percnt &amp \'apos (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi <lt =equals',
    '>gt ?quest @commat [lsqb [lbrack \\bsol ]rsqb ]rbrack ^hat _lowbar `grave {lcub {lbrace |verbar |vert }rcub }rbrace',
  ]
    .flatMap((signs) => signs.split(' '))
    .map((each) => [each.slice(1), each.charAt(0)]),
);
const CODE_POINT_MAX = 0x10_ff_ff;
const toUtf8 = new TextEncoder();

/** A text as UTF-8, one byte in each character of `bytes`. */
interface Reading {
  readonly bytes: string;
  /** Where each byte begins in the text, in UTF-16 units, and where the text ends. */
  readonly starts: readonly number[];
}

/** What is searched for, in bytes. */
interface Form {
  readonly bytes: string;
  /** How many bytes beside it hold a part of the secret too: digits of base64. */
  readonly before: number;
  readonly after: number;
}

/**
 * A function that replaces secrets in a text by `***`: a server may repeat what it was sent. A secret is found as it is, with
 * any of its characters escaped as in URLs and forms (`%2F`, a plus for a blank), JSON (`\/`, `\u002f`), JavaScript (`\x2f`)
 * or HTML (`&#47;`, `&#x2f;`, `&sol;`), in either case and also escaped twice, and in base64 of either alphabet, whatever
 * stands around it there. At the end of a text the beginning of a secret is masked, and at the beginning the end of one, from
 * four bytes on.
 *
 * Not found are a secret in hex, one with line ends put into it, one of less than four bytes in base64, and a piece that has
 * other text on both sides. The time is in proportion to the text.
 */
export function secretMask(secrets: Iterable<string>): (text: string) => string {
  const forms = [...secrets].filter((secret) => secret !== '').flatMap(formsOf);
  return (text) => {
    const isMasked = new Uint8Array(text.length);
    let reading: Reading | null = readingOf(text);
    for (let times = 0; reading !== null && times <= ESCAPED_TIMES_MAX; times += 1) {
      const uncut = reading.bytes.replace(CUT_ESCAPE, '');
      for (const form of forms) mark(isMasked, reading, uncut, form);
      reading = unescaped(reading);
    }
    return withMasks(text, isMasked);
  };
}

/** Makes the beginning of a provider's reason fit to be stored and shown: the credentials in it become `***`. */
export function reasonMask(secrets: Iterable<string>): (text: string) => string {
  const masked = secretMask(secrets);
  return (text) => masked(cutText(text, REASON_CHARACTERS_READ_MAX));
}

/**
 * The secret in plain and in base64, and what is left of each when a part of it is taken for an escape: such a part may stay
 * as it is beside characters that are escaped.
 */
function formsOf(secret: string): readonly Form[] {
  const plain = utf8(secret);
  return [{ bytes: plain, before: 0, after: 0 }, ...base64Forms(plain)].flatMap((form) => {
    const once = unescapedBytes(form.bytes);
    return [...new Set([form.bytes, once, unescapedBytes(once)])]
      .filter((bytes) => bytes === form.bytes || bytes.length >= PIECE_BYTES_MIN)
      .map((bytes) => ({ ...form, bytes }));
  });
}

/** The digits of base64 that hold nothing but the secret, for each place where it may begin. */
function base64Forms(plain: string): readonly Form[] {
  if (plain.length < PIECE_BYTES_MIN) return [];
  return BASE64_PLACES.flatMap((place) => {
    const bits = 8 * (place + plain.length);
    const from = Math.ceil((8 * place) / BASE64_BITS);
    const bytes = btoa('\0'.repeat(place) + plain).slice(from, Math.floor(bits / BASE64_BITS));
    const forUrls = bytes.replaceAll('+', '-').replaceAll('/', '_');
    const [before, after] = [Math.min(place, 1), Math.min(bits % BASE64_BITS, 1)];
    return [...new Set([bytes, forUrls])].map((each) => ({ bytes: each, before, after }));
  });
}

/** Marks where the form stands. `uncut` are the bytes without an escape that the end cuts off. */
function mark(isMasked: Uint8Array, { bytes, starts }: Reading, uncut: string, form: Form): void {
  const { length } = form.bytes;
  const cover = (from: number, to: number): void => {
    if (from === to) return;
    const first = Math.max(0, from - form.before);
    const end = Math.min(bytes.length, to + form.after);
    isMasked.fill(1, starts[first], starts[end]);
  };
  for (let at = bytes.indexOf(form.bytes); at !== -1; at = bytes.indexOf(form.bytes, at + 1)) {
    cover(at, at + length);
  }
  cover(beginningAtEnd(bytes, form.bytes), bytes.length);
  if (uncut !== bytes) cover(beginningAtEnd(uncut, form.bytes), bytes.length);
  cover(0, endAtBeginning(bytes, form.bytes));
}

/** Where the bytes at the end begin that are a beginning of the secret, and not all of it. */
function beginningAtEnd(bytes: string, secret: string): number {
  const piece = secret.slice(0, PIECE_BYTES_MIN);
  const from = Math.max(0, bytes.length - secret.length + 1);
  for (let at = bytes.indexOf(piece, from); at !== -1; at = bytes.indexOf(piece, at + 1)) {
    if (secret.startsWith(bytes.slice(at))) return at;
  }
  return bytes.length;
}

/** Where the bytes at the beginning end that are an end of the secret, and not all of it. */
function endAtBeginning(bytes: string, secret: string): number {
  const piece = secret.slice(-PIECE_BYTES_MIN);
  for (let at = secret.length - 1 - piece.length; at >= 0; at -= 1) {
    at = bytes.lastIndexOf(piece, at);
    if (at === -1) break;
    const end = at + piece.length;
    if (secret.endsWith(bytes.slice(0, end))) return end;
  }
  return 0;
}

/** With each escape replaced by what it stands for; null when there is none. */
function unescaped({ bytes, starts }: Reading): Reading | null {
  const pieces: string[] = [];
  const begins: number[] = [];
  let end = 0;
  const copyTo = (to: number): void => {
    pieces.push(bytes.slice(end, to));
    for (let at = end; at < to; at += 1) begins.push(starts[at] ?? 0);
  };
  for (const match of bytes.matchAll(ESCAPE)) {
    copyTo(match.index);
    const character = characterOf(match);
    pieces.push(character);
    for (let byte = 0; byte < character.length; byte += 1) begins.push(starts[match.index] ?? 0);
    end = match.index + match[0].length;
  }
  if (end === 0) return null;
  copyTo(bytes.length);
  begins.push(starts[bytes.length] ?? 0);
  return { bytes: pieces.join(''), starts: begins };
}

function unescapedBytes(bytes: string): string {
  return bytes.replace(ESCAPE, (...match) => characterOf(match));
}

/** What a match of `ESCAPE` stands for, in bytes. */
function characterOf([written = '', ...groups]: readonly (string | undefined)[]): string {
  const [byte, high, low, unit, decimal, hex, name, sign] = groups;
  if (byte !== undefined) return String.fromCharCode(Number(`0x${byte}`));
  if (high !== undefined) return utf8(String.fromCharCode(Number(`0x${high}`), Number(`0x${low}`)));
  if (unit !== undefined) return utf8(String.fromCharCode(Number(`0x${unit}`)));
  if (decimal !== undefined) return codePoint(Number(decimal)) ?? written;
  if (hex !== undefined) return codePoint(Number(`0x${hex}`)) ?? written;
  if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? written;
  return sign === undefined ? ' ' : (CONTROLS[sign] ?? sign);
}

function codePoint(code: number): string | null {
  return code <= CODE_POINT_MAX ? utf8(String.fromCodePoint(code)) : null;
}

function readingOf(text: string): Reading {
  if (ASCII.test(text))
    return { bytes: text, starts: Array.from({ length: text.length + 1 }, (_, at) => at) };
  const pieces: string[] = [];
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    const bytes = utf8(character);
    pieces.push(bytes);
    for (let byte = 0; byte < bytes.length; byte += 1) starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return { bytes: pieces.join(''), starts };
}

function utf8(text: string): string {
  return ASCII.test(text) ? text : String.fromCharCode(...toUtf8.encode(text));
}

/** Each run of units that are masked becomes one mask. */
function withMasks(text: string, isMasked: Uint8Array): string {
  let masked = '';
  let end = 0;
  for (let from = isMasked.indexOf(1); from !== -1; from = isMasked.indexOf(1, end)) {
    masked += text.slice(end, from) + MASK;
    const to = isMasked.indexOf(0, from);
    end = to === -1 ? text.length : to;
  }
  return masked + text.slice(end);
}
