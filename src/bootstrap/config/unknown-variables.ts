import leven from 'leven';
import { credentialVariables } from './channels-file.ts';
import { configNames } from './config-entries.ts';

/** A variable that no part of the service reads, and the one that was probably meant. */
export interface UnknownVariable {
  readonly name: string;
  readonly suggestion: string | null;
}

/** Letters that may differ from a known name: more in a longer one, so that HOME is not taken for HOST. */
const LETTERS_PER_DIFFERENCE = 5;
const DIFFERENCES_MAX = 3;

/** Those of an environment that a process or a command was started with, but for what its channels file names. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
): readonly UnknownVariable[] {
  return unknownVariables(environment, [
    ...configNames(),
    ...credentialVariables(environment.CHANNELS_FILE ?? ''),
  ]);
}

/**
 * The variables of an environment that look like a setting of the service and are none: they begin like a known name
 * (`DATABASE_URI`) or differ from one by a letter or two (`EGRESS_ALOW`). Everything else belongs to other programs.
 */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly UnknownVariable[] {
  const knownNames = new Set(known);
  const families = new Set(known.filter((name) => name.includes('_')).map(familyOf));
  return Object.keys(environment)
    .filter((name) => !knownNames.has(name))
    .map((name) => ({ name, suggestion: closestTo(name, known) }))
    .filter(({ name, suggestion }) => suggestion !== null || families.has(familyOf(name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The first word of a name with the underscore behind it; the whole name when it has only one. */
function familyOf(name: string): string {
  return name.slice(0, name.indexOf('_') + 1) || name;
}

function closestTo(name: string, known: readonly string[]): string | null {
  let closest: string | null = null;
  let fewest = DIFFERENCES_MAX + 1;
  for (const candidate of known) {
    const differences = leven(name.toUpperCase(), candidate);
    const allowed = Math.min(DIFFERENCES_MAX, Math.floor(candidate.length / LETTERS_PER_DIFFERENCE));
    if (differences > allowed || differences >= fewest) continue;
    closest = candidate;
    fewest = differences;
  }
  return closest;
}
