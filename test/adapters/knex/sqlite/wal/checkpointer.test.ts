import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { isBusy } from '../../../../../src/adapters/knex/sqlite/sqlite-pragmas.ts';
import { PAUSED, READS, RUNNING } from '../../../../../src/adapters/knex/sqlite/wal/checkpoint-state.mjs';
import { Checkpointer } from '../../../../../src/adapters/knex/sqlite/wal/checkpointer.ts';
import { until } from '../../../../support/until.ts';

/** Locks the file against every other connection, says so, and releases it when it is told to. */
const LOCKING_THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new (require('better-sqlite3'))(workerData);
  database.pragma('journal_mode = wal');
  database.pragma('locking_mode = EXCLUSIVE');
  database.exec('CREATE TABLE places (name text)');
  parentPort.once('message', (holdMs) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
    database.close();
  });
  parentPort.postMessage('locked');
`;
/** Longer than the checkpointer waits for a lock once it has opened the file. */
const HELD_MS = 200;

it('the checkpointer waits until it can open a file that another connection has locked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'barid-checkpointer-'));
  const filename = join(folder, 'barid.db');
  const locking = new Worker(LOCKING_THREAD, { eval: true, workerData: filename });
  const closed = once(locking, 'exit');
  await once(locking, 'message');
  const checkpointer = new Checkpointer({ filename, truncateIntervalMs: 1_000, onFailed() {} });
  locking.postMessage(HELD_MS);
  await expect(checkpointer.stop()).resolves.toBeUndefined();
  await closed;
  rmSync(folder, { recursive: true });
});

it('the checkpointer empties the log by another thread after its first one failed', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'barid-checkpointer-'));
  // The thread cannot open a file in a folder that is not there.
  const folder = join(parent, 'not-yet');
  const filename = join(folder, 'barid.db');
  const failures: unknown[] = [];
  const onFailed = (error: unknown) => failures.push(error);
  const checkpointer = new Checkpointer({ filename, truncateIntervalMs: 1, onFailed });
  // Reads are let go on when it has failed.
  Atomics.store(checkpointer.shared, READS, PAUSED);
  await until(() => Atomics.load(checkpointer.shared, READS) === RUNNING);
  expect(failures).toMatchObject([{ message: expect.stringContaining('directory does not exist') }]);
  mkdirSync(folder);
  const database = new Sqlite(filename);
  database.pragma('journal_mode = wal');
  database.pragma('wal_autocheckpoint = 0');
  database.exec('CREATE TABLE places (name text)');
  await until(() => statSync(`${filename}-wal`).size === 0);
  await checkpointer.stop();
  database.close();
  rmSync(parent, { recursive: true });
});

it('the checkpointer stops although its thread failed meanwhile, and may be stopped twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'barid-checkpointer-'));
  const failures: unknown[] = [];
  const checkpointer = new Checkpointer({
    filename: join(folder, 'none', 'barid.db'),
    truncateIntervalMs: 1,
    onFailed: (error) => failures.push(error),
  });
  await Promise.all([checkpointer.stop(), checkpointer.stop()]);
  expect(failures).toHaveLength(1);
  await checkpointer.stop();
  rmSync(folder, { recursive: true });
});

/** Far above the 24 MiB of content that a log may hold. */
const LOG_BYTES_TOO_MANY = 128 * 1024 * 1024;
const ROW = 'x'.repeat(3 * 1024);
const HEADER_BYTES = 32;
const HOUR_MS = 3_600_000;
const ROWS_OF_LONG_LOG = 500;

/** A file with a log, as the connection that writes has it open. */
function openFile({ truncateIntervalMs = 1, byLink = false, rows = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'barid-checkpointer-'));
  const file = join(folder, 'barid.db');
  const filename = byLink ? join(folder, 'link.db') : file;
  if (byLink) symlinkSync(file, filename);
  const database = new Sqlite(filename, { timeout: 0 });
  database.pragma('journal_mode = wal');
  database.pragma('wal_autocheckpoint = 0');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE places (name text)');
  const insert = database.prepare('INSERT INTO places VALUES (?)');
  for (let count = 0; count < rows; count += 1) insert.run(ROW);
  const reader = new Sqlite(filename);
  const checkpointer = new Checkpointer({ filename, truncateIntervalMs, onFailed() {} });
  return {
    database,
    checkpointer,
    /** How often the log was begun anew, which is in its header. */
    logGeneration(): number {
      const header = Buffer.alloc(HEADER_BYTES);
      const log = openSync(`${file}-wal`, 'r');
      readSync(log, header);
      closeSync(log);
      return header.readUInt32BE(12);
    },
    /** Writes nothing while the file is locked: a unit of work begins again then. */
    write(): boolean {
      try {
        insert.run(ROW);
        return true;
      } catch (error) {
        if (!isBusy(error)) throw error;
        return false;
      }
    },
    /** What is found in a copy of the file and its log, as after a crash. */
    readCopy() {
      const copy = join(folder, 'copy.db');
      // Node's own copy would never end if the log became shorter meanwhile.
      writeFileSync(copy, readFileSync(file));
      writeFileSync(`${copy}-wal`, readFileSync(`${file}-wal`));
      const copied = new Sqlite(copy);
      const rows = copied.prepare('SELECT COUNT(*) FROM places').pluck().get();
      const integrity = copied.pragma('integrity_check', { simple: true });
      copied.close();
      return { rows, integrity };
    },
    /** Of another process. */
    beginRead(): void {
      reader.exec('BEGIN');
      reader.prepare('SELECT COUNT(*) FROM places').get();
    },
    endRead(): void {
      if (reader.inTransaction) reader.exec('COMMIT');
    },
    logBytes: () => statSync(`${file}-wal`).size,
    version: () => database.pragma('data_version', { simple: true }),
    async close() {
      reader.close();
      database.close();
      await checkpointer.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

it('the log of a connection that writes is shortened beside it and beside reads, and keeps all that is in it', async () => {
  const file = openFile({ rows: ROWS_OF_LONG_LOG });
  const longBytes = file.logBytes();
  const version = file.version();
  let rows = ROWS_OF_LONG_LOG;
  await until(() => {
    if (file.logBytes() < longBytes / 2) return true;
    file.endRead();
    if (file.write()) rows += 1;
    file.beginRead();
    return false;
  });
  // The read is still open: what is written now does not begin the log anew, but goes on behind what the read needs.
  for (let count = 0; count < 10; count += 1) if (file.write()) rows += 1;
  expect(file.version()).toBe(version);
  expect(file.readCopy()).toEqual({ rows, integrity: 'ok' });
  await file.close();
});

it('the log of a connection that writes without a pause is written over, and the connection finds its file unchanged', async () => {
  const file = openFile({ truncateIntervalMs: HOUR_MS });
  file.write();
  const version = file.version();
  const generation = file.logGeneration();
  while (file.logGeneration() === generation && file.logBytes() < LOG_BYTES_TOO_MANY) {
    file.write();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(file.logGeneration()).toBeGreaterThan(generation);
  expect(file.version()).toBe(version);
  await file.close();
});

it.each([false, true])(
  'the checkpointer empties the log of a connection that has nothing to do, by a link %s',
  async (byLink) => {
    const file = openFile({ byLink });
    file.write();
    const version = file.version();
    await until(() => file.logBytes() === 0);
    file.write();
    expect(file.version()).not.toBe(version);
    await file.close();
  },
);
