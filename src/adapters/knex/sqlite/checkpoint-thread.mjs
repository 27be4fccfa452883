// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const INTERVAL_MS = 200;
const BUSY_TIMEOUT_MS = 1_000;
/** A longer log is truncated, for which writers wait a moment. */
const LOG_BYTES_MAX = 256 * 1024 * 1024;

/** @type {{ filename: string, stop: Int32Array }} */
const { filename, stop } = workerData;
const database = new Sqlite(filename, { timeout: BUSY_TIMEOUT_MS });
database.pragma('synchronous = FULL');
const pageBytes = Number(database.pragma('page_size', { simple: true }));

while (Atomics.wait(stop, 0, 0, INTERVAL_MS) === 'timed-out') {
  const logPages = checkpoint('PASSIVE');
  if (logPages * pageBytes > LOG_BYTES_MAX) checkpoint('TRUNCATE');
}
// The last connection that closes writes back what is left and removes the log.
database.close();

/**
 * @param {'PASSIVE' | 'TRUNCATE'} mode
 * @returns {number} the pages in the log
 */
function checkpoint(mode) {
  try {
    const [result] = /** @type {{ log: number }[]} */ (database.pragma(`wal_checkpoint(${mode})`));
    return result?.log ?? 0;
  } catch {
    // A busy or full disk: the log still holds everything, and the next checkpoint tries again.
    return 0;
  }
}
