// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.

import { closeSync, openSync, readSync, realpathSync, statSync, truncateSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { PAUSED, READS, RUNNING, STOPPING } from './checkpoint-state.mjs';

const INTERVAL_MS = 200;
/** Another process may be about to open the file, or to close it. */
const OPEN_TIMEOUT_MS = 5_000;
/** A checkpoint that takes no longer leaves little to the next one. */
const CAUGHT_UP_MS = 30;
const CATCH_UP_ATTEMPTS_MAX = 10;
/**
 * From this much content on, everything in the log is moved: then the next commit writes over what is there, and the file grows
 * no further. A file that grows takes half as long again to sync, and a large one long to shorten: some 0.4 ms a MiB.
 */
const CONTENT_BYTES_MAX = 24 * 1024 * 1024;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Of the number in the header of the log that grows each time the log begins anew: the first one of its salts. */
const LOG_NUMBER_OFFSET = 16;
const LOG_NUMBER_BYTES = 4;
/** A connection that has committed nothing for this long has nothing to do, in milliseconds. */
const IDLE_MS = 1_000;
/** A lock that others hold is not waited for longer: all is tried again. */
const LOCK_TIMEOUT_MS = 20;

/** Reads that are running may end in this time, while no other begins. */
const READS_END_MS = 400;
const POLL_MS = 5;
/** When a pause was of no use, the next one comes after this time, and each time after twice as much. */
const PAUSE_INTERVAL_MS = 2_000;
const PAUSE_INTERVAL_MS_MAX = 20_000;
/** While commits come, one of them begins the log anew in this time. */
const COMMIT_MS = 50;

/** @type {{ filename: string, truncateIntervalMs: number, shared: Int32Array }} */
const { filename, truncateIntervalMs, shared } = workerData;
const database = new Sqlite(filename, { timeout: OPEN_TIMEOUT_MS });
// Beside the file that a link leads to.
const log = `${realpathSync(filename)}-wal`;
database.pragma('synchronous = FULL');
database.pragma(`busy_timeout = ${LOCK_TIMEOUT_MS}`);
/** For the lock of those who write, beside a checkpoint. */
const writer = new Sqlite(filename, { timeout: LOCK_TIMEOUT_MS });
const frameBytes = FRAME_HEADER_BYTES + Number(database.pragma('page_size', { simple: true }));

/** As the last checkpoint found it. */
let contentBytes = 0;
/** When old content is to leave the log. */
let dueAt = performance.now() + truncateIntervalMs;
/** The number of the log that has the old content; null while it is not due to leave. */
let dueNumber = /** @type {number | null} */ (null);
let pauseAt = 0;
let pauseIntervalMs = PAUSE_INTERVAL_MS;
/** What the log had when all of it was moved last, and since when it has had that. */
let movedBytes = 0;
let movedAt = 0;
while (Atomics.wait(shared, STOPPING, 0, INTERVAL_MS) === 'timed-out') {
  const isMoved = checkpoint('PASSIVE');
  if (dueNumber === null && performance.now() >= dueAt && fileBytes() > 0) dueNumber = logNumber();
  if (dueNumber !== null && removeOldContent()) continue;
  if (contentBytes === movedBytes) continue;
  if (dueNumber === null && contentBytes <= CONTENT_BYTES_MAX) continue;
  // What a read needs stays in the log. Those of this process end soon, when no other begins.
  if (!isMoved && performance.now() < pauseAt) continue;
  const isEverythingMoved = withoutReads(moveEverything);
  // A read of another process may take minutes.
  pauseIntervalMs = isEverythingMoved
    ? PAUSE_INTERVAL_MS
    : Math.min(2 * pauseIntervalMs, PAUSE_INTERVAL_MS_MAX);
  pauseAt = performance.now() + pauseIntervalMs;
  if (dueNumber !== null) removeOldContent();
}
writer.close();
// The last connection that closes removes the log. While another process has the file open, the log stays, and is empty.
checkpoint('TRUNCATE');
database.close();

/**
 * Moves the whole log into the file, so that the next commit begins the log anew. A read that began before that would keep it
 * from doing so: no read may begin until the commit.
 * @returns {boolean} whether everything was moved
 */
function moveEverything() {
  const until = performance.now() + READS_END_MS;
  // Others write meanwhile: a full checkpoint, for which they wait, comes when the reads have ended. It syncs the file, which a
  // checkpoint beside commits does not. It does not begin when somebody who writes without a pause leaves it no moment for the
  // lock.
  while (!(catchUp() && checkpoint('FULL'))) {
    if (performance.now() >= until) return false;
    if (Atomics.wait(shared, STOPPING, 0, POLL_MS) !== 'timed-out') return false;
  }
  movedBytes = contentBytes;
  movedAt = performance.now();
  const number = logNumber();
  const commitUntil = performance.now() + COMMIT_MS;
  while (logNumber() === number && performance.now() < commitUntil) {
    if (Atomics.wait(shared, STOPPING, 0, POLL_MS) !== 'timed-out') break;
  }
  return true;
}

/**
 * Removes what is behind the content of a log that a commit has begun anew. The log of a connection that has nothing to do begins
 * no more: all of it is removed, by which the connection forgets its pages and its copies.
 * @returns {boolean} whether the content that was due has left the log
 */
function removeOldContent() {
  const isIdle = contentBytes === movedBytes && performance.now() - movedAt >= IDLE_MS;
  const isRemoved = logNumber() === dueNumber ? isIdle && checkpoint('TRUNCATE') : removeTail();
  if (!isRemoved) return false;
  dueNumber = null;
  dueAt = performance.now() + truncateIntervalMs;
  return true;
}

/**
 * Shortens the log to its content, while nobody writes. No read needs the rest: a log begins anew only when none needs it. By the
 * connection that writes, it would take some 30 ms of the event loop.
 * @returns {boolean} whether the log has nothing but its content
 */
function removeTail() {
  try {
    writer.exec('BEGIN IMMEDIATE');
  } catch {
    // Others write just now.
    return false;
  }
  try {
    if (!checkpoint('PASSIVE')) return false;
    truncateSync(log, contentBytes === 0 ? 0 : LOG_HEADER_BYTES + contentBytes);
    return true;
  } finally {
    writer.exec('ROLLBACK');
  }
}

/**
 * Lets no read begin while `work` runs.
 * @param {() => boolean} work
 */
function withoutReads(work) {
  Atomics.store(shared, READS, PAUSED);
  try {
    return work();
  } finally {
    Atomics.store(shared, READS, RUNNING);
    Atomics.notify(shared, READS);
  }
}

/**
 * Nobody can write while a full checkpoint moves what was committed since the checkpoint before: quicker and quicker checkpoints
 * leave it little.
 * @returns {boolean} false when something needs a page that is in the log
 */
function catchUp() {
  for (let attempt = 1; attempt <= CATCH_UP_ATTEMPTS_MAX; attempt += 1) {
    const startedAt = performance.now();
    if (!checkpoint('PASSIVE')) return false;
    if (performance.now() - startedAt <= CAUGHT_UP_MS) return true;
  }
  return true;
}

/**
 * Moves committed pages from the log into the file. The log keeps a copy of them, with codes and texts that are masked
 * since, until the log begins anew, and behind that until it is shortened.
 * @param {'PASSIVE' | 'FULL' | 'TRUNCATE'} mode
 * @returns {boolean} whether nothing kept it from moving every page
 */
function checkpoint(mode) {
  try {
    const [result] = /** @type {{ busy: number, log: number, checkpointed: number }[]} */ (
      database.pragma(`wal_checkpoint(${mode})`)
    );
    // Minus 1 says that nothing is known.
    if (result === undefined || result.log < 0) return false;
    contentBytes = result.log * frameBytes;
    return result.busy === 0 && result.log === result.checkpointed;
  } catch {
    // A busy or full disk: the log still holds everything, and the next checkpoint tries again.
    return false;
  }
}

function fileBytes() {
  return statSync(log, { throwIfNoEntry: false })?.size ?? 0;
}

/** The number of the log; 0 while there is nothing in it. */
function logNumber() {
  const number = Buffer.alloc(LOG_NUMBER_BYTES);
  const file = openSync(log, 'r');
  try {
    readSync(file, number, 0, LOG_NUMBER_BYTES, LOG_NUMBER_OFFSET);
  } finally {
    closeSync(file);
  }
  return number.readUInt32BE();
}
