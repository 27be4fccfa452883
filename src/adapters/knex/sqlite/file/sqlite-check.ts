import Sqlite from 'better-sqlite3';
import { openAlone } from './sqlite-alone.ts';

/** The most faults that SQLite lists. */
const FAULTS_MAX = 10;

/**
 * What SQLite finds wrong with the structure of a file, one sentence each; empty when it is whole. Reads all of it, and blocks
 * the event loop meanwhile: for commands only.
 */
export function faultsOf(filename: string): readonly string[] {
  try {
    const database = new Sqlite(filename, { readonly: true, fileMustExist: true });
    try {
      const rows = database.pragma(`integrity_check(${FAULTS_MAX})`) as readonly {
        readonly integrity_check: string;
      }[];
      return rows.map((row) => row.integrity_check).filter((fault) => fault !== 'ok');
    } finally {
      database.close();
    }
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error;
    return [error.message];
  }
}

/** Makes a database one file without a log. Throws when another connection has it open. */
export function closeLog(filename: string): void {
  const database = openAlone(filename);
  if (database === null) throw new Error(`${filename} is open in another process`);
  database.exec('COMMIT');
  database.close();
}
