import { existsSync, realpathSync, statSync } from 'node:fs';
import { openAlone } from '../../../adapters/knex/sqlite/file/sqlite-alone.ts';
import { sqliteFileOf } from '../../../adapters/knex/sqlite/file/sqlite-file.ts';
import { abandonedPartials, removePartial } from '../../../adapters/node/whole-file.ts';
import { type Config, ConfigError } from '../../config/config.ts';

/** The file of the SQLite database. Throws `ConfigError` for any other database, whose own tools make backups. */
export function backedUpFileOf({ database }: Config): string {
  const file = sqliteFileOf(database);
  if (file !== null) return file;
  const problem =
    database.kind === 'sqlite'
      ? 'a database in memory has no backup'
      : 'names PostgreSQL, which has tools of its own; docs/backup.md says which, and what to run after a restore';
  throw new ConfigError([{ name: 'DATABASE_URL', problem }]);
}

/** The configuration for a copy of the database, under this secret key: beside the copy there is none. */
export function configOfCopy(config: Config, filename: string, secretKey: Buffer): Config {
  return { ...config, secretKey: secretKey.toString('hex'), database: { kind: 'sqlite', filename } };
}

/** Removes what runs that were killed have left in the folder of `target` an hour ago. What another run is writing stays. */
export function removeLeftovers(target: string): void {
  for (const partial of abandonedPartials(target, Date.now())) if (!isInUse(partial)) removePartial(partial);
}

/** The path of the file that a path leads to; the path itself where there is none. */
export function withoutLinks(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Whether a log with content lies beside the file: then it is no backup, and not whole without its log. */
export function hasLog(filename: string): boolean {
  const log = `${filename}-wal`;
  return existsSync(log) && statSync(log).size > 0;
}

function isInUse(filename: string): boolean {
  try {
    const database = openAlone(filename);
    database?.close();
    return database === null;
  } catch {
    // A file that was cut off is no database, and nobody's.
    return false;
  }
}
