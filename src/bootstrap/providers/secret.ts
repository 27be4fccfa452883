import { readFileSync } from 'node:fs';
import { z } from 'zod';

const SECRET_FORM = 'must be { "env": "NAME" } or { "file": "PATH" }';

/** A credential of a channels file: it stands in the environment or in a file of its own, never in the channels file. */
export const secret = z
  .union(
    [
      z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
      z.strictObject({ file: z.string().min(1) }),
    ],
    SECRET_FORM,
  )
  .transform((place, context): string => {
    const found = 'env' in place ? (process.env[place.env] ?? '') : contentOf(place.file);
    if (found !== '') return found;
    context.addIssue({
      code: 'custom',
      message:
        'env' in place ? `the variable ${place.env} is not set` : `${place.file} cannot be read, or is empty`,
    });
    return z.NEVER;
  });

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
