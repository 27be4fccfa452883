import type { z } from 'zod';

const NAME_CHARACTERS_MAX = 64;
/** What a misspelt name has. A code, a text or a secret that came in the place of a name has more, and is not repeated. */
const NAME_PATTERN = /^[A-Za-z]+$/;

/** The path of a value in a body as a text: `businesses[0].name`; of the body itself its name for people. */
export function pathInBody(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'The request body';
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? short(part) : `${text}.${short(part)}`;
  }, '');
}

/** Says what is wrong with a value at which path, for a schema that says nothing itself. */
export function issueText(issue: z.core.$ZodRawIssue): string {
  return `${pathInBody(issue.path ?? [])} ${problemOf(issue)}`;
}

/** What is wrong with a value, as the text behind its path. */
export function problemOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be of the type ${issue.expected === 'record' ? 'object' : issue.expected}`;
    case 'too_big':
      return tooBigProblem(issue);
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has a field of an unknown name${shown(issue.keys[0] ?? '')}`;
    default:
      return 'is not valid';
  }
}

function tooBigProblem({ origin, maximum }: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>): string {
  if (origin === 'number' || origin === 'int') return `must be at most ${maximum}`;
  return `must have at most ${maximum} ${origin === 'string' ? 'characters' : 'members'}`;
}

function shown(name: string): string {
  return NAME_PATTERN.test(name) ? `: ${short(name)}` : '';
}

function short(name: PropertyKey): string {
  return String(name).slice(0, NAME_CHARACTERS_MAX);
}
