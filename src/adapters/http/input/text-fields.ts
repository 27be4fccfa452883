import { z } from 'zod';
import { areStorableLines, isStorableLine } from '../../../domain/shared/storable-text.ts';

const FOREIGN_LINE_END = /\r\n?/g;

/** A one-line text of `min` to `max` UTF-16 code units; `name` is how the rejection calls it. */
export function nameField(name: string, min: number, max: number) {
  return checkedText(name, min, max, isStorableLine);
}

/**
 * A text of `min` to `max` UTF-16 code units that may have lines and tabs. Line ends of any kind become line feeds
 * before anything is counted.
 */
export function textField(name: string, min: number, max: number) {
  return checkedText(name, min, max, areStorableLines, (text) => text.replace(FOREIGN_LINE_END, '\n'));
}

/** The library's own minimum and maximum count whole characters; the limits here count code units. */
function checkedText(
  name: string,
  min: number,
  max: number,
  isStorable: (text: string) => boolean,
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
    .refine(isStorable, { error: `${name} must not contain control characters` })
    .meta(min === 0 ? { maxLength: max } : { minLength: min, maxLength: max });
}
