/** NUL and halves of surrogate pairs: not every database stores them, and none that does returns them alike. */
const UNSTORABLE = /\0|\p{Cs}/u;

/** What is not storable, and every other control character. */
const FOREIGN_IN_LINE = /[\p{Cc}\p{Cs}]/u;

/** The same, but for line ends and tabs. */
const FOREIGN_IN_LINES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/u;

const EACH_FOREIGN_IN_LINE = new RegExp(FOREIGN_IN_LINE, 'gu');
const EACH_FOREIGN_IN_LINES = new RegExp(FOREIGN_IN_LINES, 'gu');
const HALF_PAIR_AT_END = /[\ud800-\udbff]$/;

/** Whether every database returns a text unchanged. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Whether a storable text is one line, without control characters. */
export function isStorableLine(text: string): boolean {
  return !FOREIGN_IN_LINE.test(text);
}

/** Whether a storable text has no control characters but line feeds and tabs. */
export function areStorableLines(text: string): boolean {
  return !FOREIGN_IN_LINES.test(text);
}

/** The text as one storable line: every other character becomes a space. */
export function toStorableLine(text: string): string {
  return text.replace(EACH_FOREIGN_IN_LINE, ' ');
}

/** The text as storable lines: line feeds and tabs stay, every other control character becomes a space. */
export function toStorableLines(text: string): string {
  return text.replace(EACH_FOREIGN_IN_LINES, ' ');
}

/** A text of at most `units` UTF-16 units: the beginning of a longer one, which ends between characters. */
export function cutText(text: string, units: number): string {
  return text.length <= units ? text : text.slice(0, units).replace(HALF_PAIR_AT_END, '');
}
