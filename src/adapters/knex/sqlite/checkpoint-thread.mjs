// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.
import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const INTERVAL_MS = 200;
/** Another process may be about to open the file, or to close it. */
const OPEN_TIMEOUT_MS = 5_000;
/** A checkpoint that takes no longer leaves little to the next one. */
const CAUGHT_UP_MS = 30;
const CATCH_UP_ATTEMPTS_MAX = 10;
/**
 * From this much content on, everything in the log is moved: then the next commit writes over what is there, and the file grows no
 * further. A file that grows takes half as long again to sync, and a large one long to truncate: some 0.4 ms a MiB.
 */
const CONTENT_BYTES_MAX = 24 * 1024 * 1024;
const FRAME_HEADER_BYTES = 24;
/** A connection that has committed nothing for so long has nothing to do: then this thread truncates its log. */
const IDLE_MS = 1_000;
/** A truncation that waits for a reader gives up soon, and is tried again. */
const TRUNCATE_TIMEOUT_MS = 20;

/** As in the class that started this thread. */
const STOPPING = 0;
const TRUNCATION = 1;
const NONE = 0;
const DUE = 1;
const DONE = 2;

/** @type {{ filename: string, truncateIntervalMs: number, shared: Int32Array }} */
const { filename, truncateIntervalMs, shared } = workerData;
const database = new Sqlite(filename, { timeout: OPEN_TIMEOUT_MS });
database.pragma('synchronous = FULL');
database.pragma(`busy_timeout = ${TRUNCATE_TIMEOUT_MS}`);
const frameBytes = FRAME_HEADER_BYTES + Number(database.pragma('page_size', { simple: true }));

/** As the last checkpoint found it. */
let contentBytes = 0;
let truncateAt = performance.now() + truncateIntervalMs;
let dueSince = 0;
while (Atomics.wait(shared, STOPPING, 0, INTERVAL_MS) === 'timed-out') {
  const truncation = Atomics.load(shared, TRUNCATION);
  if (truncation === DUE) {
    if (performance.now() - dueSince < IDLE_MS) continue;
    // From here on the connection leaves it to this thread.
    if (Atomics.compareExchange(shared, TRUNCATION, DUE, NONE) !== DUE) continue;
    if (checkpoint('TRUNCATE')) truncateAt = performance.now() + truncateIntervalMs;
    continue;
  }
  if (truncation === DONE) truncateAt = performance.now() + truncateIntervalMs;
  Atomics.store(shared, TRUNCATION, NONE);
  // What a reader still needs stays in the log, and no truncation could end before that reader.
  if (!checkpoint('PASSIVE')) continue;
  const isTruncationDue = performance.now() >= truncateAt && fileBytes() > 0;
  if (!isTruncationDue && contentBytes <= CONTENT_BYTES_MAX) continue;
  catchUp();
  // Writers wait by timer meanwhile. It syncs the file, which a checkpoint beside commits does not.
  if (!checkpoint('FULL') || !isTruncationDue) continue;
  dueSince = performance.now();
  Atomics.store(shared, TRUNCATION, DUE);
}
// The last connection that closes removes the log. While another process has the file open, the log stays, and is empty.
checkpoint('TRUNCATE');
database.close();

/**
 * Nobody can write while a full checkpoint moves what was committed since the checkpoint before: quicker and quicker checkpoints
 * leave it little.
 */
function catchUp() {
  for (let attempt = 1; attempt <= CATCH_UP_ATTEMPTS_MAX; attempt += 1) {
    const startedAt = performance.now();
    if (!checkpoint('PASSIVE') || performance.now() - startedAt <= CAUGHT_UP_MS) return;
  }
}

/**
 * Moves committed pages from the log into the file. The log keeps a copy of them, with codes and texts that are masked
 * since, until it is truncated.
 * @param {'PASSIVE' | 'FULL' | 'TRUNCATE'} mode
 * @returns {boolean} whether nothing kept it from moving every page
 */
function checkpoint(mode) {
  try {
    const [result] = /** @type {{ busy: number, log: number, checkpointed: number }[]} */ (
      database.pragma(`wal_checkpoint(${mode})`)
    );
    contentBytes = (result?.log ?? 0) * frameBytes;
    return result?.busy === 0 && result.log === result.checkpointed;
  } catch {
    // A busy or full disk: the log still holds everything, and the next checkpoint tries again.
    return false;
  }
}

function fileBytes() {
  return statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
