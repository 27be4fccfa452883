/** Patterns are matched against so many characters at most, in UTF-16 units. */
export const PATTERN_INPUT_CHARACTERS_MAX = 512;
export const PATTERN_CHARACTERS_MAX = 500;

const REPETITION = /^(?:[*+]|\{\d+(?:,\d*)?\})/;
const GROUP_START = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/;
const CHARACTER_CLASS = /^\[(?:[^\]\\]|\\.)*\]/;

/**
 * A regular expression that an operator wrote. Throws an error that says what is wrong with it. Rejects the shapes that can
 * take exponential time: a repeated group with a repetition, an alternative or an optional part in it, and references to
 * groups. The time for the others is a power of the length of the text, which `matchIn` bounds.
 */
export function safePattern(source: string): RegExp {
  if (source.length > PATTERN_CHARACTERS_MAX) {
    throw new Error(`a pattern has at most ${PATTERN_CHARACTERS_MAX} characters`);
  }
  const pattern = compiled(source);
  checkRepetitions(source);
  return pattern;
}

/** The match in the beginning of a text, or null. */
export function matchIn(pattern: RegExp, text: string): RegExpExecArray | null {
  return pattern.exec(text.slice(0, PATTERN_INPUT_CHARACTERS_MAX));
}

function compiled(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch {
    throw new Error('the pattern is no regular expression');
  }
}

function checkRepetitions(source: string): void {
  const groups = [{ varies: false }];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    const group = groups.at(-1) ?? { varies: false };
    const repetition = REPETITION.exec(rest)?.[0];
    if (rest.startsWith('\\')) {
      if (/^\\[1-9k]/.test(rest)) throw new Error('the pattern refers to one of its own groups');
      at += 2;
    } else if (rest.startsWith('[')) {
      at += CHARACTER_CLASS.exec(rest)?.[0].length ?? 1;
    } else if (rest.startsWith('(')) {
      groups.push({ varies: false });
      at += GROUP_START.exec(rest)?.[0].length ?? 1;
    } else if (rest.startsWith(')')) {
      const closed = groups.pop();
      at += 1;
      if (closed?.varies !== true) continue;
      if (REPETITION.test(source.slice(at))) {
        throw new Error(
          'the pattern repeats a group that holds a repetition, an alternative or an optional part',
        );
      }
      const outer = groups.at(-1);
      if (outer !== undefined) outer.varies = true;
    } else if (repetition !== undefined || rest.startsWith('|') || rest.startsWith('?')) {
      group.varies = true;
      at += repetition?.length ?? 1;
    } else {
      at += 1;
    }
  }
}
