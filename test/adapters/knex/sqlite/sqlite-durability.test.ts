import { fdatasync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../../src/adapters/knex/unit-of-work.ts';
import { StorageUnwritable } from '../../../../src/application/errors/storage-unavailable.ts';
import type { Durability } from '../../../../src/application/ports/unit-of-work.ts';
import { aProject } from '../../../support/builders.ts';
import { until } from '../../../support/until.ts';

/** What the disk of the test has been asked to sync, and how each of it ends. */
let syncs: ((error: Error | null) => void)[];
let isSlow: boolean;
let folder: string;
let database: Database;
let unitOfWork: SqlUnitOfWork;
let events: string[];

beforeEach(async () => {
  syncs = [];
  events = [];
  isSlow = false;
  folder = mkdtempSync(join(tmpdir(), 'durability-'));
  database = openDatabase({
    kind: 'sqlite',
    filename: join(folder, 'test.db'),
    syncFile: (file, done) => (isSlow ? syncs.push(done) : fdatasync(file, done)),
  });
  await database.migrate();
  unitOfWork = new SqlUnitOfWork(database);
  isSlow = true;
});
afterEach(async () => {
  isSlow = false;
  for (const end of syncs.splice(0)) end(null);
  await database.close();
  rmSync(folder, { recursive: true });
});

/** Notes when the unit of work has run and when its promise has resolved. */
async function run(name: string, durability?: Durability): Promise<void> {
  await unitOfWork.run(async ({ projects }) => {
    await projects.insert([aProject({ id: name, slug: name })]);
    events.push(`${name} ran`);
  }, durability);
  events.push(`${name} is durable`);
}
/** Ends the oldest sync. */
const endSync = (error: Error | null = null): void => syncs.shift()?.(error);

it('a unit of work of full durability resolves when the log is synced', async () => {
  const first = run('first');
  await until(() => syncs.length === 1);
  expect(events).toEqual(['first ran']);
  endSync();
  await first;
  expect(events).toEqual(['first ran', 'first is durable']);
});

it('others work during a sync, and wait together for the next one', async () => {
  const first = run('first');
  await until(() => syncs.length === 1);
  const others = [run('second'), run('third')];
  await until(() => events.length === 3);
  expect(syncs).toHaveLength(1);
  endSync();
  await first;
  expect(events).toEqual(['first ran', 'second ran', 'third ran', 'first is durable']);
  expect(syncs).toHaveLength(1);
  endSync();
  await Promise.all(others);
  expect(syncs).toHaveLength(0);
});

it('a unit of work of eventual durability syncs nothing', async () => {
  await run('first', 'eventual');
  expect(events).toEqual(['first ran', 'first is durable']);
  expect(syncs).toHaveLength(0);
});

it('what reads a change resolves when that is durable', async () => {
  const first = run('first');
  await until(() => syncs.length === 1);
  const eventual = run('second', 'eventual');
  const read = unitOfWork
    .read(({ projects }) => projects.byIds(['first']))
    .then(([found]) => events.push(`${found?.id} was read`));
  await until(() => events.length === 2);
  expect(events).toEqual(['first ran', 'second ran']);
  endSync();
  await Promise.all([first, eventual, read]);
  expect(events.slice(2).sort()).toEqual(['first is durable', 'first was read', 'second is durable']);
  expect(syncs).toHaveLength(0);
});

it('what reads a change waits for the sync behind the one that runs', async () => {
  const first = run('first');
  await until(() => syncs.length === 1);
  const second = run('second');
  await until(() => events.length === 2);
  const read = unitOfWork
    .read(({ projects }) => projects.byIds(['second']))
    .then(([found]) => events.push(`${found?.id} was read`));
  endSync();
  await first;
  expect(events.slice(2)).toEqual(['first is durable']);
  endSync();
  await Promise.all([second, read]);
  expect(events.slice(3).sort()).toEqual(['second is durable', 'second was read']);
});

it('nothing is stored or read any more when a sync has failed', async () => {
  const first = run('first');
  await until(() => syncs.length === 1);
  const second = run('second');
  await until(() => events.length === 2);
  endSync(new Error('EIO'));
  await expect(first).rejects.toBeInstanceOf(StorageUnwritable);
  endSync();
  await expect(second).rejects.toBeInstanceOf(StorageUnwritable);
  await expect(run('third')).rejects.toBeInstanceOf(StorageUnwritable);
  await expect(unitOfWork.read(({ projects }) => projects.byIds(['first']))).rejects.toBeInstanceOf(
    StorageUnwritable,
  );
  await expect(unitOfWork.ping()).rejects.toBeInstanceOf(StorageUnwritable);
  expect(events).toEqual(['first ran', 'second ran']);
});

it('closing a database waits for the syncs in flight', async () => {
  const first = run('first');
  await until(() => syncs.length === 1);
  const closed = database.close().then(() => events.push('closed'));
  endSync();
  await until(() => syncs.length === 1 || events.length === 3);
  endSync();
  await Promise.all([first, closed]);
  expect(events).toEqual(['first ran', 'first is durable', 'closed']);
});
