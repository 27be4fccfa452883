import { messageOf } from '../application/errors/error-text.ts';

/** The code of an error of Node or a database; what the error says when it has none. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return String(code ?? messageOf(error));
}
