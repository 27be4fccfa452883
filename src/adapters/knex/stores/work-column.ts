import { parseWork } from '../../../application/jobs/job-kinds.ts';
import type { Work } from '../../../domain/jobs/job.ts';

/** How the JSON of a work begins. The kind comes first, so that SQL reads it without parsing each row. */
const BEGINNING = '{"kind":"';
/** The longest name of a kind. */
const KIND_CHARACTERS_MAX = 23;

/** A work as the column `work` has it. Throws when SQL could not read its kind there: a mistake of the program. */
export function workText(work: Work): string {
  const text = JSON.stringify(work);
  if (text.startsWith(BEGINNING) && work.kind.length <= KIND_CHARACTERS_MAX) return text;
  throw new Error(`"kind" comes first in a work, and has ${KIND_CHARACTERS_MAX} characters at most: ${text}`);
}

/** The work in the column; of work that this version does not understand, its kind. */
export function workIn(text: string): Work {
  const value: unknown = JSON.parse(text);
  return parseWork(value) ?? { kind: kindOf(value) };
}

/** In SQL, what begins with the kind of a row; `kindIn` reads it. */
export const KIND_SQL = `SUBSTR(work, ${BEGINNING.length + 1}, ${KIND_CHARACTERS_MAX + 1})`;

/** The kind in what `KIND_SQL` selects. */
export function kindIn(selected: string): string {
  return selected.split('"', 1)[0] ?? '';
}

/** For LIKE: works of this kind. A kind has no character that LIKE reads otherwise. */
export function likeKind(kind: string): string {
  return `${BEGINNING}${kind}"%`;
}

function kindOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'kind' in value ? String(value.kind) : '';
}
