import { rejectionError } from '../../replies/rejection-errors.ts';
import type { DocumentedError } from '../../routing/documented.ts';

/** The 404 of a path that names a project. */
export const NO_PROJECT: DocumentedError = {
  description: 'There is no such project',
  error: rejectionError({ kind: 'project-not-found' }),
};

/** The 400 of a body. */
export function invalidBody(text: string): DocumentedError {
  return { description: 'The body is not valid', error: { status: 400, code: 'validation-failed', text } };
}
