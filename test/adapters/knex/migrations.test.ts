import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import type { DatabaseConfig } from '../../../src/adapters/knex/dialect.ts';
import { KnexUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const PROCESSES = 3;
const PROCESS_TIMEOUT_MS = 30_000;

const NAMES = ['001-projects', '002-prices', '003-messages', '004-jobs', '005-webhooks', '006-installation'];

describe('migrations on SQLite', () => {
  it('run once when they are asked for twice', () => migrateTwice({ kind: 'sqlite', filename: ':memory:' }));

  it('take turns when three processes start at once', { timeout: PROCESS_TIMEOUT_MS }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'barid-migrations-'));
    await migrateInThreeProcesses({ kind: 'sqlite', filename: join(folder, 'barid.db') });
    rmSync(folder, { recursive: true });
  });
});

describe.skipIf(POSTGRES_URL === undefined)(
  `migrations on PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    it('run once when they are asked for twice', () => inOwnSchema(migrateTwice));

    it('take turns when three processes start at once', { timeout: PROCESS_TIMEOUT_MS }, () =>
      inOwnSchema(migrateInThreeProcesses),
    );
  },
);

async function migrateTwice(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  await database.migrate();
  await database.migrate();
  expect(await namesIn(database)).toEqual(NAMES);
  expect(await new KnexUnitOfWork(database).read(({ projects }) => projects.isEmpty())).toBe(true);
  await database.close();
}

async function migrateInThreeProcesses(config: DatabaseConfig): Promise<void> {
  const children = Array.from({ length: PROCESSES }, () =>
    fork(join(import.meta.dirname, 'migrate-process.ts'), [JSON.stringify(config)], {
      execArgv: ['--import', 'tsx'],
    }),
  );
  const exits = children.map((child) => once(child, 'exit'));
  await Promise.all(children.map((child) => once(child, 'message')));
  for (const child of children) child.send('go');
  expect((await Promise.all(exits)).map(([code]) => code)).toEqual([0, 0, 0]);
  const database = openDatabase(config);
  expect(await namesIn(database)).toEqual(NAMES);
  await database.close();
}

async function namesIn({ knex }: Database): Promise<unknown[]> {
  return knex('knex_migrations').orderBy('id').pluck('name');
}

async function inOwnSchema(work: (config: DatabaseConfig) => Promise<void>): Promise<void> {
  const schema = `migrations_${randomUUID().replaceAll('-', '')}`;
  const config = {
    kind: 'postgres',
    url: POSTGRES_URL ?? '',
    schema,
    poolSize: 1,
    statementTimeoutMs: 10_000,
  } as const;
  try {
    await work(config);
  } finally {
    const database = openDatabase(config);
    await database.knex.raw('DROP SCHEMA IF EXISTS ?? CASCADE', [schema]);
    await database.close();
  }
}
