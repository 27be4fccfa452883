// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.

import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { DONE, DUE, NONE, PAUSED, READS, RUNNING, STOPPING, TRUNCATION } from './checkpoint-state.mjs';

const INTERVAL_MS = 200;
/** Another process may be about to open the file, or to close it. */
const OPEN_TIMEOUT_MS = 5_000;
/** A checkpoint that takes no longer leaves little to the next one. */
const CAUGHT_UP_MS = 30;
const CATCH_UP_ATTEMPTS_MAX = 10;
/**
 * From this much content on, everything in the log is moved: then the next commit writes over what is there, and the file grows
 * no further. A file that grows takes half as long again to sync, and a large one long to truncate: some 0.4 ms a MiB.
 */
const CONTENT_BYTES_MAX = 24 * 1024 * 1024;
const FRAME_HEADER_BYTES = 24;
/** A connection that has committed nothing for so long has nothing to do: then this thread truncates its log. */
const IDLE_MS = 1_000;
/** A truncation that waits for a reader gives up soon, and is tried again. */
const TRUNCATE_TIMEOUT_MS = 20;

/** Reads that are running may end in this time, while no other begins. */
const READS_END_MS = 400;
const READS_POLL_MS = 5;
/** When a pause was of no use, the next one comes after this time, and each time after twice as much. */
const PAUSE_INTERVAL_MS = 2_000;
const PAUSE_INTERVAL_MS_MAX = 20_000;
/** While commits come, one of them begins the log anew, or truncates it, in this time. */
const COMMIT_MS = 50;

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
let pauseAt = 0;
let pauseIntervalMs = PAUSE_INTERVAL_MS;
/** What the log had when all of it was moved last. */
let movedBytes = 0;
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
  const isMoved = checkpoint('PASSIVE');
  const isTruncationDue = performance.now() >= truncateAt && fileBytes() > 0;
  const isLong = contentBytes > CONTENT_BYTES_MAX && contentBytes !== movedBytes;
  if (!isTruncationDue && !isLong) continue;
  // What a read needs stays in the log. Those of this process end soon, when no other begins.
  if (!isMoved && performance.now() < pauseAt) continue;
  const isEverythingMoved = withoutReads(() => moveEverything(isTruncationDue));
  // A read of another process may take minutes.
  pauseIntervalMs = isEverythingMoved
    ? PAUSE_INTERVAL_MS
    : Math.min(2 * pauseIntervalMs, PAUSE_INTERVAL_MS_MAX);
  pauseAt = performance.now() + pauseIntervalMs;
}
// The last connection that closes removes the log. While another process has the file open, the log stays, and is empty.
checkpoint('TRUNCATE');
database.close();

/**
 * Moves the whole log into the file, so that the next commit begins the log anew or truncates it. A read that began
 * before that would keep it from both: no read may begin until the commit.
 * @param {boolean} isTruncationDue
 * @returns {boolean} whether everything was moved
 */
function moveEverything(isTruncationDue) {
  const until = performance.now() + READS_END_MS;
  // Others write meanwhile: a full checkpoint, for which they wait, comes when the reads have ended. It syncs the file, which a
  // checkpoint beside commits does not. It does not begin when somebody who writes without a pause leaves it no moment for the
  // lock.
  while (!(catchUp() && checkpoint('FULL'))) {
    if (performance.now() >= until) return false;
    if (Atomics.wait(shared, STOPPING, 0, READS_POLL_MS) !== 'timed-out') return false;
  }
  movedBytes = contentBytes;
  if (isTruncationDue) {
    dueSince = performance.now();
    Atomics.store(shared, TRUNCATION, DUE);
  }
  Atomics.wait(shared, TRUNCATION, isTruncationDue ? DUE : NONE, COMMIT_MS);
  return true;
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
