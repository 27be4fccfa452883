import { readFileSync } from 'node:fs';
import { messageOf } from '../../../application/errors/error-text.ts';
import { EXIT_USAGE } from '../../exit-codes.ts';
import { CommandError } from '../console/command-error.ts';
import type { RequestFile } from './admin-client.ts';

/** What is read as which media type, by the end of its name. */
const MEDIA_TYPES = { csv: 'text/csv', json: 'application/json' } as const;

/** The file of prices at `path`. Throws `CommandError` when it cannot be read, or its name does not end with .csv or .json. */
export function priceFile(path: string): RequestFile {
  const ending = path.toLowerCase().replace(/^.*\./s, '');
  if (ending !== 'csv' && ending !== 'json') {
    throw new CommandError('the name of a file of prices ends with .csv or .json', EXIT_USAGE);
  }
  try {
    return { bytes: readFileSync(path), mediaType: MEDIA_TYPES[ending] };
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`, EXIT_USAGE);
  }
}
