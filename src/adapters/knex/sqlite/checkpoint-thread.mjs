// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.
import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const INTERVAL_MS = 200;
/** Another process may be about to open the file, or to close it. */
const OPEN_TIMEOUT_MS = 5_000;
/** A truncation that waits for a reader holds up every writer: it gives up soon, and is tried again. */
const TRUNCATE_TIMEOUT_MS = 20;
/** A log that grows beyond this is truncated before its time. */
const LOG_BYTES_MAX = 256 * 1024 * 1024;

/** @type {{ filename: string, truncateIntervalMs: number, stop: Int32Array }} */
const { filename, truncateIntervalMs, stop } = workerData;
const database = new Sqlite(filename, { timeout: OPEN_TIMEOUT_MS });
database.pragma('synchronous = FULL');
database.pragma(`busy_timeout = ${TRUNCATE_TIMEOUT_MS}`);

let truncateAt = performance.now() + truncateIntervalMs;
while (Atomics.wait(stop, 0, 0, INTERVAL_MS) === 'timed-out') {
  // What a reader still needs stays in the log, and no truncation could end before that reader.
  if (!checkpoint('PASSIVE')) continue;
  const bytes = logBytes();
  const isDue = performance.now() >= truncateAt || bytes > LOG_BYTES_MAX;
  if (bytes > 0 && isDue && checkpoint('TRUNCATE')) truncateAt = performance.now() + truncateIntervalMs;
}
// The last connection that closes removes the log. While another process has the file open, the log stays, and is empty.
checkpoint('TRUNCATE');
database.close();

/**
 * Moves committed pages from the log into the file. The log keeps a copy of them, with codes and texts that are masked
 * since, until it is truncated.
 * @param {'PASSIVE' | 'TRUNCATE'} mode
 * @returns {boolean} whether nothing kept it from moving every page
 */
function checkpoint(mode) {
  try {
    const [result] = /** @type {{ busy: number, log: number, checkpointed: number }[]} */ (
      database.pragma(`wal_checkpoint(${mode})`)
    );
    return result?.busy === 0 && result.log === result.checkpointed;
  } catch {
    // A busy or full disk: the log still holds everything, and the next checkpoint tries again.
    return false;
  }
}

function logBytes() {
  return statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
