import Sqlite from 'better-sqlite3';
import { WalNotSynced } from './wal/wal-sync.ts';

/** How long opening and migrating wait for a lock of another process, when the service serves nothing yet. */
export const OPEN_TIMEOUT_MS = 5_000;
/** A statement does not wait for a lock of another connection, for the event loop would wait too: units of work do. */
export const BUSY_TIMEOUT_MS = 0;
/** Rows are written in the order of their ids, so little of the file is in use at a time. */
const CACHE_KIB = 16 * 1024;
/** SQLite's own numbers. */
const SYNCHRONOUS_NORMAL = 1;
const TEMP_STORE_FILE = 1;

/** How long a connection waits while others put the same new file into WAL mode. */
const WAL_DELAY_MS = 10;
const WAL_ATTEMPTS_MAX = 500;

const OUTAGE = /^SQLITE_(BUSY|CANTOPEN|NOMEM|PROTOCOL)/;

type Pragmas = Readonly<Record<string, string | number>>;

const ALWAYS: Pragmas = {
  foreign_keys: 1,
  cache_size: -CACHE_KIB,
  temp_store: TEMP_STORE_FILE,
  busy_timeout: BUSY_TIMEOUT_MS,
};

/** With `secure_delete` a code that is masked, and a page that becomes free, are overwritten with zeros. */
const ON_FILES: Pragmas = {
  journal_mode: 'wal',
  wal_autocheckpoint: 0,
  secure_delete: 1,
  ...ALWAYS,
  // A commit does not sync the log: `WalSync` does, outside of the event loop.
  synchronous: SYNCHRONOUS_NORMAL,
};

/** Sets the pragmas of a new connection, and reads them back. Throws when SQLite kept another value. */
export function applyPragmas(database: Sqlite.Database, isFile: boolean): void {
  const pragmas = isFile ? ON_FILES : ALWAYS;
  database.pragma(`busy_timeout = ${OPEN_TIMEOUT_MS}`);
  if (isFile) enterWalMode(database);
  for (const [name, value] of Object.entries(pragmas)) database.pragma(`${name} = ${value}`);
  for (const [name, value] of Object.entries(pragmas)) {
    const actual = database.pragma(name, { simple: true });
    if (actual !== value) throw new Error(`SQLite keeps ${name} at ${actual} instead of ${value}`);
  }
}

/** SQLite does not wait when another process changes the mode at the same time. */
function enterWalMode(database: Sqlite.Database): void {
  const timer = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.pragma('journal_mode = wal');
      return;
    } catch (error) {
      if (!isBusy(error) || attempt >= WAL_ATTEMPTS_MAX) throw error;
      Atomics.wait(timer, 0, 0, WAL_DELAY_MS);
    }
  }
}

/** Why the disk stores nothing, when a statement failed because of that; null otherwise. */
export function diskProblem(error: unknown): string | null {
  if (error instanceof WalNotSynced) return 'a sync of the log failed; start the service again';
  if (!(error instanceof Sqlite.SqliteError)) return null;
  if (error.code === 'SQLITE_FULL') return 'the disk is full';
  if (!error.code.startsWith('SQLITE_IOERR') && !error.code.startsWith('SQLITE_READONLY')) return null;
  return `the disk is full, broken or read-only (${error.code})`;
}

/**
 * Whether a statement failed because another connection holds a lock, or for want of memory or open files. A damaged file is not
 * among them: SQLite finds the damage in some statements, and the others go on.
 */
export function isSqliteOutage(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && OUTAGE.test(error.code);
}

/** Whether a statement failed because another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
