import { readFileSync } from 'node:fs';
import { z } from 'zod';

const SECRET_FORM = 'must be { "env": "NAME" } or { "file": "PATH" }';

/** The schema of a credential in a channels file: it stands in this environment or in a file of its own, never there. */
export const secretIn = (environment: Readonly<Record<string, string | undefined>>) =>
  z
    .union(
      [
        z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
        z.strictObject({ file: z.string().min(1) }),
      ],
      SECRET_FORM,
    )
    .transform((place, context): string => {
      const found = 'env' in place ? (environment[place.env] ?? '').trim() : contentOf(place.file);
      if (found !== '') return found;
      context.addIssue({
        code: 'custom',
        message:
          'env' in place
            ? `the variable ${place.env} is not set`
            : `${place.file} cannot be read, or is empty`,
      });
      return z.NEVER;
    });

export type SecretSchema = ReturnType<typeof secretIn>;

const TOKEN_CHARACTERS_MAX = 1_024;
const TOKEN_PATTERN = new RegExp(`^[\\x21-\\x7e]{1,${TOKEN_CHARACTERS_MAX}}$`);
const TOKEN_PROBLEM = `must be printable characters without spaces, ${TOKEN_CHARACTERS_MAX} at most`;

/** A credential that a header carries. */
export const tokenOf = (secret: SecretSchema) => secret.pipe(z.string().regex(TOKEN_PATTERN, TOKEN_PROBLEM));

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
