import { z } from 'zod';

/** NUL, control characters and halves of surrogate pairs: no two databases keep them alike. */
const FORBIDDEN_IN_NAMES = /[\p{Cc}\p{Cs}]/u;
/** Texts may have lines and tabs. */
const FORBIDDEN_IN_TEXTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/u;

const FOREIGN_LINE_END = /\r\n?/g;

/** A one-line text of `min` to `max` UTF-16 code units; `name` is how the rejection calls it. */
export function nameField(name: string, min: number, max: number) {
  return checkedText(name, min, max, FORBIDDEN_IN_NAMES);
}

/**
 * A text of `min` to `max` UTF-16 code units that may have lines and tabs. Line ends of any kind become line feeds
 * before anything is counted.
 */
export function textField(name: string, min: number, max: number) {
  return checkedText(name, min, max, FORBIDDEN_IN_TEXTS, (text) => text.replace(FOREIGN_LINE_END, '\n'));
}

/** Whether a one-line text holds only characters that every database returns unchanged. */
export function isClean(text: string): boolean {
  return !FORBIDDEN_IN_NAMES.test(text);
}

/** The library's own minimum and maximum count whole characters; the limits here count code units. */
function checkedText(
  name: string,
  min: number,
  max: number,
  forbidden: RegExp,
  normalise?: (text: string) => string,
) {
  const bounds = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const text = z.string({
    error: ({ input }) => (input === undefined ? `${name} is required` : `${name} must be a string`),
  });
  return (normalise === undefined ? text : text.overwrite(normalise))
    .refine((text) => text.length >= min && text.length <= max, {
      error: `${name} must be ${bounds} characters long`,
    })
    .refine((text) => !forbidden.test(text), { error: `${name} must not contain control characters` })
    .meta(min === 0 ? { maxLength: max } : { minLength: min, maxLength: max });
}
