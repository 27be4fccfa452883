// @ts-check
// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { PAUSED, READS } from './wal/checkpoint-state.mjs';

/**
 * @typedef {import('../driver/connection.ts').Value} Value
 * @typedef {import('./sqlite-reader.ts').Select} Select
 * @typedef {import('./sqlite-reader.ts').Outcome} Outcome
 * @typedef {import('better-sqlite3').Statement<Value[], Value[]>} Statement
 */

/** Another process may be about to open the file, or to close it. Nobody else waits for this thread. */
const OPEN_TIMEOUT_MS = 5_000;
/** A read waits no longer for the log. */
const PAUSE_MS_MAX = 500;
/**
 * Pages are read again after each commit of the other connection. A search by number among ten million messages reads the same
 * thousand again and again.
 */
const CACHE_KIB = 8 * 1024;

/** @type {{ filename: string, shared: Int32Array }} */
const { filename, shared } = workerData;
/**
 * Opened for the first read, which learns what is wrong with the file.
 * @type {import('better-sqlite3').Database | null}
 */
let database = null;
/** @type {Map<string, Statement>} */
const statements = new Map();
if (parentPort === null) throw new Error('This file is a thread');
const port = parentPort;
port.on('message', (/** @type {Select | null} */ select) => {
  if (select !== null) return port.postMessage(outcomeOf(select));
  database?.close();
  port.close();
});

/**
 * @param {Select} select
 * @returns {Outcome}
 */
function outcomeOf({ sql, isKept, each }) {
  Atomics.wait(shared, READS, PAUSED, PAUSE_MS_MAX);
  try {
    const statement = statements.get(sql) ?? prepare(sql);
    if (isKept) statements.set(sql, statement);
    const rows = each.map((values) => statement.all(...values));
    // After they were read: another process may have added columns.
    const columns = statement.columns().map(({ name }) => name);
    return { rows, columns };
  } catch (error) {
    // An error loses its class on the way to another thread.
    if (!(error instanceof Error)) throw error;
    return { message: error.message, code: error instanceof Sqlite.SqliteError ? error.code : null };
  }
}

/**
 * @param {string} sql
 * @returns {Statement}
 */
function prepare(sql) {
  database ??= open();
  const statement = /** @type {Statement} */ (database.prepare(sql));
  return statement.raw(true);
}

function open() {
  const opened = new Sqlite(filename, { readonly: true, fileMustExist: true, timeout: OPEN_TIMEOUT_MS });
  opened.pragma(`cache_size = -${CACHE_KIB}`);
  return opened;
}
