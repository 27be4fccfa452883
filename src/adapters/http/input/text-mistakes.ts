import type { z } from 'zod';
import { isStorable } from '../../../domain/shared/storable-text.ts';

/**
 * One mistake for each text of a value, names of fields included, that not every database can keep. It searches only as far as it
 * is asked: most callers need the first.
 */
export function* textMistakes(
  value: unknown,
  path: readonly PropertyKey[] = [],
): Generator<z.core.$ZodIssue, void, undefined> {
  if (typeof value === 'string') {
    if (!isStorable(value)) yield mistakeAt(path, value);
  } else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* textMistakes(each, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const memberPath = [...path, name];
      if (!isStorable(name)) yield mistakeAt(memberPath, name);
      yield* textMistakes(member, memberPath);
    }
  }
}

function mistakeAt(path: readonly PropertyKey[], input: string): z.core.$ZodIssue {
  const message = 'must not contain NUL or half of a surrogate pair';
  return { code: 'custom', path: [...path], message, input };
}
