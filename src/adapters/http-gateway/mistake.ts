import { messageOf } from '../../application/errors/error-text.ts';

/** Told of a mistake in the options of a gateway, by its path in them. */
export type Mistake = (path: readonly PropertyKey[], message: string) => void;

/** What `make` makes; what it throws is a mistake at this path, and the result is then null. */
export function orMistake<Value>(
  mistake: Mistake,
  path: readonly PropertyKey[],
  make: () => Value,
): Value | null {
  try {
    return make();
  } catch (error) {
    mistake(path, messageOf(error));
    return null;
  }
}

/** The same for options that stand deeper. */
export function under(mistake: Mistake, ...start: readonly PropertyKey[]): Mistake {
  return (path, message) => mistake([...start, ...path], message);
}
