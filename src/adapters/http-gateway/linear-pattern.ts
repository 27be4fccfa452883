import { RE2JS } from 're2js';
import { messageOf } from '../../application/errors/error-text.ts';

/** The most characters that a pattern is matched against, in UTF-16 units. */
export const PATTERN_INPUT_CHARACTERS_MAX = 512;
export const PATTERN_CHARACTERS_MAX = 500;
/** Instructions of a compiled pattern: a match takes at most this number times the characters of the text. */
const PATTERN_INSTRUCTIONS_MAX = 1_000;

/**
 * A regular expression that an operator wrote, in the syntax of RE2. A match takes time in proportion to the text, whatever
 * the pattern: nothing is tried twice.
 */
export class LinearPattern {
  readonly #pattern: RE2JS;

  /** Throws an error whose text says what is wrong with the pattern. */
  constructor(source: string) {
    if (source.length > PATTERN_CHARACTERS_MAX) {
      throw new Error(`a pattern has at most ${PATTERN_CHARACTERS_MAX} characters`);
    }
    this.#pattern = compiled(source);
    if (this.#pattern.programSize() > PATTERN_INSTRUCTIONS_MAX) {
      throw new Error('the pattern is too large: its repetitions count too far');
    }
  }

  /** Whether it is anywhere in the beginning of a text. */
  isIn(text: string): boolean {
    return this.#pattern.test(beginningOf(text));
  }

  /** The named groups of its first match in the beginning of a text, null for one without a part of it; null without a match. */
  groupsIn(text: string): Readonly<Record<string, string | null>> | null {
    const matcher = this.#pattern.matcher(beginningOf(text));
    return matcher.find() ? matcher.getNamedGroups() : null;
  }
}

function beginningOf(text: string): string {
  return text.slice(0, PATTERN_INPUT_CHARACTERS_MAX);
}

function compiled(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    const reason = messageOf(error).replace(/^error parsing regexp: /, '');
    throw new Error(`the pattern is no regular expression of RE2: ${reason}`);
  }
}
