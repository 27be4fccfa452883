import { GSM_ESCAPE, GSM_EXTENDED, gsmCodeOf, NOT_GSM } from './gsm-alphabet.ts';

export type SmsEncoding = 'gsm7' | 'ucs2';

/** A text as the network carries it. */
export interface SmsParts {
  readonly encoding: SmsEncoding;
  /** The text of each part, at least one, without lone surrogates. `writePart` makes its octets. */
  readonly parts: readonly string[];
}

/** The septets of an sms of one part, and of each part of several: a header takes the place of seven. */
const GSM_SINGLE_SEPTETS_MAX = 160;
const GSM_PART_SEPTETS_MAX = 153;

/** The same in UTF-16 units. */
const UCS2_SINGLE_UNITS_MAX = 70;
const UCS2_PART_UNITS_MAX = 67;

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** A surrogate without the other half of its pair. */
const LONE_SURROGATE = /\p{Cs}/gu;
const SURROGATE = /[\ud800-\udfff]/;
const REPLACEMENT = '\ufffd';

/** Clusters do not depend on the language. */
const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

const ONE_PART: readonly number[] = [0];

/** Where the parts of a text begin. */
interface Division {
  readonly encoding: SmsEncoding;
  /** Without lone surrogates. */
  readonly text: string;
  /** The index in `text` of the first UTF-16 unit of each part, in order; the first is 0. */
  readonly starts: readonly number[];
}

/**
 * The parts of a text: GSM 7-bit when its alphabet has every character, else UCS-2. Each part takes as much as fits. What a
 * reader sees as one character stays in one part: an escape with its character, a surrogate pair, a letter with its marks,
 * an emoji of several code points, a flag, a line end of two characters. Only one that is longer than a part is cut,
 * between code points. A lone surrogate becomes U+FFFD.
 */
export function smsPartsOf(text: string): SmsParts {
  const { encoding, text: clean, starts } = divide(text);
  if (starts.length === 1) return { encoding, parts: [clean] };
  return { encoding, parts: starts.map((start, index) => clean.slice(start, starts[index + 1])) };
}

/**
 * Writes a part into `octets` from the index `at` on, and returns the index behind it: two octets for each UTF-16 unit at most.
 * `gsm7`: one septet per octet, not packed, as SMPP carries data coding 0. `ucs2`: UTF-16 with the high octet first.
 */
export function writePart(encoding: SmsEncoding, part: string, octets: Uint8Array, at: number): number {
  return encoding === 'gsm7' ? writeGsm(part, octets, at) : writeUcs2(part, octets, at);
}

/** The number of parts that `smsPartsOf` makes, without making them. */
export function countSmsParts(text: string): number {
  return divide(text).starts.length;
}

function divide(text: string): Division {
  const septets = septetsOf(text);
  if (septets !== null) {
    return {
      encoding: 'gsm7',
      text,
      starts: septets <= GSM_SINGLE_SEPTETS_MAX ? ONE_PART : gsmStarts(text),
    };
  }
  const clean = SURROGATE.test(text) ? text.replace(LONE_SURROGATE, REPLACEMENT) : text;
  return {
    encoding: 'ucs2',
    text: clean,
    starts: clean.length <= UCS2_SINGLE_UNITS_MAX ? ONE_PART : ucs2Starts(clean),
  };
}

/** Null when GSM 03.38 does not have every character of the text. */
function septetsOf(text: string): number | null {
  let septets = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = gsmCodeOf(text.charCodeAt(at));
    if (code === NOT_GSM) return null;
    septets += code < GSM_EXTENDED ? 1 : 2;
  }
  return septets;
}

/** Of what is more than one code, the alphabet has extension characters and line ends of two characters only. */
function gsmStarts(text: string): readonly number[] {
  const starts = [0];
  let filled = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    const isLineEnd = unit === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED;
    const septets = isLineEnd || gsmCodeOf(unit) >= GSM_EXTENDED ? 2 : 1;
    if (filled + septets > GSM_PART_SEPTETS_MAX) {
      starts.push(at);
      filled = 0;
    }
    filled += septets;
    at += isLineEnd ? 2 : 1;
  }
  return starts;
}

function ucs2Starts(text: string): readonly number[] {
  const clusters = CLUSTERS.segment(text);
  const starts = [0];
  let start = 0;
  while (text.length - start > UCS2_PART_UNITS_MAX) {
    const end = start + UCS2_PART_UNITS_MAX;
    // The cluster of the first unit that does not fit: the next part begins with it, unless it fills a part alone.
    const cluster = clusters.containing(end)?.index ?? end;
    start = cluster > start ? cluster : codePointStart(text, end);
    starts.push(start);
  }
  return starts;
}

/** The index of the code point that the unit at `index` belongs to, in a text without lone surrogates. */
function codePointStart(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) ? index - 1 : index;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function writeGsm(part: string, octets: Uint8Array, from: number): number {
  let at = from;
  for (let index = 0; index < part.length; index += 1) {
    const code = gsmCodeOf(part.charCodeAt(index));
    if (code < GSM_EXTENDED) {
      octets[at++] = code;
    } else {
      octets[at++] = GSM_ESCAPE;
      octets[at++] = code - GSM_EXTENDED;
    }
  }
  return at;
}

function writeUcs2(part: string, octets: Uint8Array, from: number): number {
  let at = from;
  for (let index = 0; index < part.length; index += 1) {
    const unit = part.charCodeAt(index);
    octets[at++] = unit >> 8;
    octets[at++] = unit & 0xff;
  }
  return at;
}
