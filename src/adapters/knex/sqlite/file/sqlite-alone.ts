import Sqlite from 'better-sqlite3';
import { isBusy } from '../sqlite-pragmas.ts';

/**
 * Opens a database alone: afterwards its log is in the file, there is no `-wal` and no `-shm`, and nobody else can read
 * or write it until it is closed. Null when another connection has it open, also one that does nothing: each connection in WAL
 * mode holds a shared lock on the file, and only the last one may leave that mode. Throws for a file that is no database.
 */
export function openAlone(filename: string): Sqlite.Database | null {
  const database = new Sqlite(filename, { fileMustExist: true, timeout: 0 });
  try {
    // An empty transaction first: a connection that has read nothing would leave WAL mode without a lock.
    database.prepare('SELECT COUNT(*) FROM sqlite_master').get();
    database.pragma('synchronous = FULL');
    database.pragma('journal_mode = delete');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
}
