import type { z } from 'zod';

/** NUL and halves of surrogate pairs: not every database stores them, and none that does returns them alike. */
const FORBIDDEN = /\0|\p{Cs}/u;

/** One mistake for each text of a value, names of fields included, that not every database can keep. */
export function textMistakes(value: unknown, path: readonly PropertyKey[] = []): readonly z.core.$ZodIssue[] {
  if (typeof value === 'string') return FORBIDDEN.test(value) ? [mistakeAt(path, value)] : [];
  if (Array.isArray(value)) return value.flatMap((each, index) => textMistakes(each, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const place = [...path, name];
    const ofName = FORBIDDEN.test(name) ? [mistakeAt(place, name)] : [];
    return [...ofName, ...textMistakes(member, place)];
  });
}

function mistakeAt(path: readonly PropertyKey[], input: string): z.core.$ZodIssue {
  const message = 'must not contain NUL or half of a surrogate pair';
  return { code: 'custom', path: [...path], message, input };
}
