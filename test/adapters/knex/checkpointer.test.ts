import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { Checkpointer } from '../../../src/adapters/knex/sqlite/checkpointer.ts';

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
  const checkpointer = new Checkpointer({ filename, truncateIntervalMs: 1_000 });
  locking.postMessage(HELD_MS);
  await expect(checkpointer.stop()).resolves.toBeUndefined();
  await closed;
  rmSync(folder, { recursive: true });
});
