import { z } from 'zod';

/** NUL, control characters and halves of surrogate pairs: no two databases keep them alike. */
const FORBIDDEN_IN_NAMES = /[\p{Cc}\p{Cs}]/u;
/** Texts may have lines and tabs. */
const FORBIDDEN_IN_TEXTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/u;

/** A one-line text of `min` to `max` UTF-16 code units; `name` is how the refusal calls it. */
export function nameField(name: string, min: number, max: number) {
  return checkedText(name, min, max, FORBIDDEN_IN_NAMES);
}

/** A text of `min` to `max` UTF-16 code units that may have line feeds and tabs. */
export function textField(name: string, min: number, max: number) {
  return checkedText(name, min, max, FORBIDDEN_IN_TEXTS);
}

/** Whether a one-line text holds only characters that every database gives back unchanged. */
export function isClean(text: string): boolean {
  return !FORBIDDEN_IN_NAMES.test(text);
}

function checkedText(name: string, min: number, max: number, forbidden: RegExp) {
  const length =
    min === 0
      ? `${name} must be at most ${max} characters long`
      : `${name} must be ${min} to ${max} characters long`;
  return z
    .string({
      error: ({ input }) => (input === undefined ? `${name} is required` : `${name} must be a string`),
    })
    .min(min, { error: length })
    .max(max, { error: length })
    .refine((text) => !forbidden.test(text), { error: `${name} must not contain control characters` });
}
