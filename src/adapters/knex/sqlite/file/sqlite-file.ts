import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** The filename of a database in memory. */
export const IN_MEMORY = ':memory:';

const PRIVATE_FOLDER = 0o700;
/** The log and its index take over the mode of the file they belong to. */
const PRIVATE_FILE = 0o600;

/** The file that a database of SQLite is; null for one in memory, and for one of a server. */
export function sqliteFileOf({
  filename,
}: {
  readonly kind: string;
  readonly filename?: string;
}): string | null {
  return filename === undefined || filename === IN_MEMORY ? null : filename;
}

/**
 * Makes the file and its folders unless they are there; throws when they can not. The file holds codes and texts until
 * they are final: only the service's own user may read it.
 */
export function makeSqliteFile(filename: string): void {
  makeFolder(dirname(filename));
  // An open file must not be opened and closed once more: that would release the locks of the process on it.
  if (!existsSync(filename)) closeSync(openSync(filename, 'a', PRIVATE_FILE));
}

/** Not by the recursive option of Node, which tries for ever below `/proc`. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    // Another start may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
