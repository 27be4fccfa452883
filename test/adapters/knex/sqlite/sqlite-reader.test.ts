import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as eventLoopRound, setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../../src/adapters/knex/database.ts';
import { SqliteReader } from '../../../../src/adapters/knex/sqlite/sqlite-reader.ts';
import {
  PAUSED,
  READS,
  RUNNING,
  SHARED_NUMBERS,
} from '../../../../src/adapters/knex/sqlite/wal/checkpoint-state.mjs';
import { SqlUnitOfWork } from '../../../../src/adapters/knex/unit-of-work.ts';
import { StorageUnavailable } from '../../../../src/application/errors/storage-unavailable.ts';
import { aProject } from '../../../support/builders.ts';

/** Counts to eight million: more than a second of work for SQLite, and one row. */
const LONG =
  'WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 8000000) SELECT MAX(n) AS n FROM s';
const SAMPLES = 50;
const NAMES = { columns: { name: 'text' }, select: 'SELECT value FROM things WHERE name = :name' } as const;

let folder: string;
let filename: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-reader-'));
  filename = join(folder, 'test.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const newNumbers = () => new Int32Array(new SharedArrayBuffer(SHARED_NUMBERS * Int32Array.BYTES_PER_ELEMENT));

/** Without a checkpointer: nothing pauses it. */
const newReader = (name: string) => new SqliteReader(name, newNumbers());

/** A file with two rows, and its reader. */
async function withReader(work: (reader: SqliteReader, writer: Sqlite.Database) => Promise<void>) {
  const writer = new Sqlite(filename);
  writer.pragma('journal_mode = wal');
  writer.exec("CREATE TABLE things (name text, value int); INSERT INTO things VALUES ('a', 1), ('b', 2)");
  const reader = newReader(filename);
  try {
    await work(reader, writer);
  } finally {
    if (reader.isOpen) await reader.close();
    writer.close();
  }
}

it('a reader gives rows by name, for lists, texts that are built, and each key of a batch', () =>
  withReader(async (reader) => {
    expect(await reader.query('SELECT name, value FROM things WHERE name = ANY(?)', [['a', 'c']])).toEqual([
      { name: 'a', value: 1 },
    ]);
    expect(await reader.queryOnce('SELECT value AS v FROM things WHERE value > ?', [1])).toEqual([{ v: 2 }]);
    expect(await reader.batchQuery(NAMES, [{ name: 'b' }, { name: 'c' }, { name: 'a' }])).toEqual([
      [{ value: 2 }],
      [],
      [{ value: 1 }],
    ]);
  }));

it('a reader names the values of a row correctly after another connection has added a column', () =>
  withReader(async (reader, writer) => {
    const all = () => reader.query('SELECT * FROM things LIMIT ?', [1]);
    expect(await all()).toEqual([{ name: 'a', value: 1 }]);
    writer.exec("ALTER TABLE things ADD COLUMN since text DEFAULT 'now'");
    expect(await all()).toEqual([{ name: 'a', value: 1, since: 'now' }]);
  }));

it('a reader sees what is committed, and changes nothing', () =>
  withReader(async (reader, writer) => {
    const count = async () => (await reader.query('SELECT COUNT(*) AS n FROM things', []))[0]?.n;
    writer.exec("BEGIN IMMEDIATE; INSERT INTO things VALUES ('c', 3)");
    expect(await count()).toBe(2);
    writer.exec('COMMIT');
    expect(await count()).toBe(3);
    await expect(reader.query('DELETE FROM things RETURNING name', [])).rejects.toThrow('readonly');
  }));

it('a reader rejects with the error of SQLite, and reads on', () =>
  withReader(async (reader) => {
    const failed = reader.query('SELECT absent FROM things', []);
    const read = reader.query('SELECT 1 AS one', []);
    await expect(failed).rejects.toBeInstanceOf(Sqlite.SqliteError);
    await expect(failed).rejects.toThrow('no such column: absent');
    await expect(failed).rejects.toHaveProperty('code', 'SQLITE_ERROR');
    expect(await read).toEqual([{ one: 1 }]);
  }));

it('a reader closes when everything it was asked is read, and rejects what comes later', () =>
  withReader(async (reader) => {
    const read = reader.query('SELECT 1 AS one', []);
    const closed = reader.close();
    expect(await read).toEqual([{ one: 1 }]);
    await closed;
    expect(reader.isOpen).toBe(false);
    await expect(reader.query('SELECT 1 AS one', [])).rejects.toThrow('The reading thread has ended');
  }));

it('a reader without its file rejects', async () => {
  const reader = newReader(join(folder, 'missing.db'));
  await expect(reader.query('SELECT 1', [])).rejects.toThrow('unable to open database file');
  await expect(reader.query('SELECT 1', [])).rejects.toThrow();
});

/** A migrated database on the file. */
async function migrated(
  config: { readonly truncateIntervalMs?: number } = {},
): Promise<{ database: Database; unitOfWork: SqlUnitOfWork }> {
  const database = openDatabase({ kind: 'sqlite', filename, ...config });
  await database.migrate();
  return { database, unitOfWork: new SqlUnitOfWork(database) };
}

it('a long read holds up neither the event loop nor units of work', async () => {
  const { database, unitOfWork } = await migrated();
  const reading = database.withReader((reader) => reader.queryOnce(LONG, []));
  let isRead = false;
  const long = reading.finally(() => {
    isRead = true;
  });
  const waits: number[] = [];
  for (let count = 0; count < SAMPLES; count += 1) {
    const askedAt = performance.now();
    await sleep(1);
    waits.push(performance.now() - askedAt);
  }
  await unitOfWork.run(({ projects }) => projects.insert([aProject()]));
  expect(isRead).toBe(false);
  // Half of the timers are on time, however busy the machine is.
  expect(waits.sort((a, b) => a - b)[SAMPLES / 2]).toBeLessThan(20);
  await long;
  await database.close();
});

it('a database closes when its reads have ended', async () => {
  const { database, unitOfWork } = await migrated();
  const read = unitOfWork.read(async ({ projects }) => [
    await projects.isEmpty(),
    await projects.byIds(['none']),
  ]);
  const closed = database.close();
  expect(await read).toEqual([true, []]);
  await closed;
});

it('a database starts another reader when the thread of the first one has ended', async () => {
  const { database } = await migrated();
  const first = await database.withReader(async (reader) => reader);
  if (!(first instanceof SqliteReader)) throw new Error('A file has a reader');
  await first.close();
  expect(await database.withReader((reader) => reader.query('SELECT 1 AS one', []))).toEqual([{ one: 1 }]);
  await database.close();
});

/** Tens of milliseconds of work that needs the log. */
const SHORT =
  'WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 300000) SELECT MAX(n) FROM s, (SELECT COUNT(*) FROM installation)';
const READERS = 8;
const TRUNCATIONS = 3;

it('the log is emptied again and again while reads and commits never pause', async () => {
  const { database, unitOfWork } = await migrated({ truncateIntervalMs: 1 });
  let isOver = false;
  const reading = Array.from({ length: READERS }, async () => {
    while (!isOver) await database.withReader((reader) => reader.queryOnce(SHORT, []));
  });
  let truncations = 0;
  let bytes = 0;
  for (let count = 0; truncations < TRUNCATIONS; count += 1) {
    await unitOfWork.run(({ installation }) => installation.set('name', String(count)), 'eventual');
    await eventLoopRound();
    const now = statSync(`${filename}-wal`).size;
    if (now < bytes) truncations += 1;
    bytes = now;
  }
  isOver = true;
  await Promise.all(reading);
  await database.close();
});

it('a read goes on half a second later although the checkpointer stands still', async () => {
  const { database } = await migrated();
  const shared = newNumbers();
  Atomics.store(shared, READS, PAUSED);
  const reader = new SqliteReader(filename, shared);
  const startedAt = performance.now();
  expect(await reader.query('SELECT 1 AS one', [])).toEqual([{ one: 1 }]);
  const waitedMs = performance.now() - startedAt;
  expect(waitedMs).toBeGreaterThanOrEqual(500);
  // Half of the time limit of a test: a machine may be busy.
  expect(waitedMs).toBeLessThan(10_000);
  await reader.close();
  await database.close();
});

it('a read goes on when the pause ends', async () => {
  const { database } = await migrated();
  const shared = newNumbers();
  const reader = new SqliteReader(filename, shared);
  await reader.query('SELECT 1 AS one', []);
  Atomics.store(shared, READS, PAUSED);
  const read = reader.query('SELECT 2 AS two', []);
  while (Atomics.notify(shared, READS) === 0) await eventLoopRound();
  Atomics.store(shared, READS, RUNNING);
  Atomics.notify(shared, READS);
  expect(await read).toEqual([{ two: 2 }]);
  await reader.close();
  await database.close();
});

it('reads that wait for a thread that ends are rejected with StorageUnavailable, and so are those after the close', async () => {
  const { database } = await migrated();
  const lost = database.withReader(async (reader) => {
    if (!(reader instanceof SqliteReader)) throw new Error('A file has a reader');
    await reader.query('SELECT 1', []);
    await reader.close();
    return reader.query('SELECT 1', []);
  });
  await expect(lost).rejects.toBeInstanceOf(StorageUnavailable);
  await database.close();
  await expect(database.withReader((reader) => reader.query('SELECT 1', []))).rejects.toBeInstanceOf(
    StorageUnavailable,
  );
});
