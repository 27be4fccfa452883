import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseConfig } from '../../adapters/knex/database.ts';
import { makeSqliteFile, sqliteFileOf } from '../../adapters/knex/sqlite/file/sqlite-file.ts';
import { codeOf } from '../../application/errors/error-text.ts';
import { ConfigError } from './config.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Makes the SQLite file unless it is there. Throws `ConfigError` when its place can not have one, or when the file or
 * its folder, which also takes the log, may not be written.
 */
export function makeDatabasePlace(database: DatabaseConfig): void {
  const filename = sqliteFileOf(database);
  if (filename === null) return;
  const reason = reasonAgainst(filename);
  if (reason === null) return;
  const problem = `${filename} cannot be used (${reason}); name a file in a folder that the process may write`;
  throw new ConfigError([{ name: 'DATABASE_URL', problem }]);
}

/** Whether the first start makes the database: a file that is missing, which opening it would make, or one in memory. */
export function isStillToBeMade(database: DatabaseConfig): boolean {
  if (database.kind !== 'sqlite') return false;
  const file = sqliteFileOf(database);
  return file === null || !existsSync(file);
}

function reasonAgainst(filename: string): string | null {
  try {
    makeSqliteFile(filename);
    accessSync(dirname(filename), W_OK | X_OK);
    accessSync(filename, R_OK | W_OK);
    return statSync(filename).isFile() ? null : 'no file';
  } catch (error) {
    return codeOf(error);
  }
}
