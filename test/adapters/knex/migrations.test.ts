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

const NAMES = [
  '001-projects',
  '002-prices',
  '003-messages',
  '004-jobs',
  '005-webhooks',
  '006-installation',
  '007-webhook-lanes',
  '008-webhook-lane-health',
];

const LAST = NAMES.at(-1);

describe('migrations on SQLite', () => {
  it('run once when they are asked for twice', () => migrateTwice({ kind: 'sqlite', filename: ':memory:' }));

  it('give every endpoint with open events its job', () =>
    giveEndpointsTheirJobs({ kind: 'sqlite', filename: ':memory:' }));

  it('keep the events that are there, and make an inbound one unique', () =>
    keepEvents({ kind: 'sqlite', filename: ':memory:' }));

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

    it('give every endpoint with open events its job', () => inOwnSchema(giveEndpointsTheirJobs));

    it('keep the events that are there, and make an inbound one unique', () => inOwnSchema(keepEvents));

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

/** From a database where every event had a job of its own. */
async function giveEndpointsTheirJobs(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await database.migrate();
  await knex.raw('DROP INDEX webhook_events_due');
  await knex.raw('ALTER TABLE jobs DROP COLUMN is_leased');
  await knex.raw('ALTER TABLE webhook_events RENAME COLUMN version TO turn');
  await knex('knex_migrations').where({ name: '007-webhook-lanes' }).delete();
  const event = (id: string, endpoint: string, dueAt: number | null) => ({
    id,
    kind: 'delivery',
    project_id: 'p1',
    subject: id,
    url: `https://${endpoint}`,
    endpoint,
    body: '{}',
    state: dueAt === null ? 'delivered' : 'pending',
    is_open: dueAt === null ? 0 : 1,
    attempts: 0,
    next_attempt_at: dueAt,
    created_at: 1,
    turn: 2,
  });
  const job = (id: string, work: object, dueAt: number) => ({
    id,
    work: JSON.stringify(work),
    due_at: dueAt,
    fence: 3,
    failures: 0,
  });
  await knex('webhook_events').insert([
    event('e1', 'a.example/1', 70),
    event('e2', 'a.example/1', 60),
    event('e3', 'a.example/2', 80),
    event('e4', 'a.example/3', null),
  ]);
  const start = job('sms-1/start/0', { kind: 'start-step', smsId: 'sms-1', step: 0 }, 50);
  const ofEvent = (id: string) => job(`${id}/post/2`, { kind: 'post-webhook', eventId: id }, 60);
  await knex('jobs').insert([start, ofEvent('e1'), ofEvent('e2'), ofEvent('e3')]);
  await knex('dead_jobs').insert({
    id: 'e4/post/1',
    work: ofEvent('e4').work,
    fence: 1,
    reason: '?',
    buried_at: 5,
  });

  await database.migrate();
  const jobs = await new KnexUnitOfWork(database).run((stores) =>
    stores.jobs.lease({ now: 80, until: 90, limit: 10 }),
  );
  const posts = (endpoint: string) => ({
    id: `webhooks/p1/${endpoint}`,
    fence: 1,
    work: { kind: 'post-webhooks', projectId: 'p1', endpoint },
  });
  expect(jobs).toEqual([
    { id: start.id, fence: 4, work: JSON.parse(start.work) },
    posts('a.example/1'),
    posts('a.example/2'),
  ]);
  expect(await knex('dead_jobs').pluck('id')).toEqual([]);
  await database.close();
}

/** From a database where the health of endpoints was shared by all projects. */
async function keepEvents(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await database.migrate();
  await knex.raw('DROP INDEX webhook_events_arrival');
  await knex.raw('DROP INDEX webhook_events_ended');
  await knex.raw('CREATE INDEX webhook_events_age ON webhook_events (created_at)');
  await knex.raw('ALTER TABLE webhook_endpoints RENAME COLUMN lane TO endpoint');
  await knex('webhook_endpoints').insert({ endpoint: 'a.example/1', health: '{}', touched_at: 1 });
  await knex('knex_migrations').where({ name: LAST }).delete();
  const event = (id: string, kind: string, subject: string) => ({
    id,
    kind,
    subject,
    project_id: 'p1',
    url: 'https://a.example/1',
    endpoint: 'a.example/1',
    body: '{}',
    state: 'pending',
    is_open: 1,
    attempts: 0,
    created_at: 1,
    version: 1,
  });
  await knex('webhook_events').insert([
    event('e1', 'delivery', 'sms-1'),
    event('e2', 'delivery', 'sms-1'),
    event('e3', 'inbound', 'e3'),
  ]);

  await database.migrate();
  expect(await knex('webhook_events').orderBy('id').pluck('id')).toEqual(['e1', 'e2', 'e3']);
  await expect(knex('webhook_events').insert(event('e4', 'inbound', 'e3'))).rejects.toThrow(/unique/i);
  expect(await knex('webhook_endpoints').pluck('lane')).toEqual([]);
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
