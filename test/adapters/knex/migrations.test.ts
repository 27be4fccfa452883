import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DatabaseConfig } from '../../../src/adapters/knex/database.ts';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { migrationsFor } from '../../../src/adapters/knex/migrations/migrations.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../../src/domain/shared/phone-number.ts';
import {
  anInternationalPrice,
  anSmsId,
  aProject,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  PROJECT_ID,
} from '../../support/builders.ts';
import { createDatabase, queryPostgres } from '../../support/services.ts';
import { until } from '../../support/until.ts';

type PostgresConfig = Extract<DatabaseConfig, { readonly kind: 'postgres' }>;

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
  '009-field-vocabulary',
  '010-submissions',
  '011-phone-number-as-sent',
  '012-key-checksums',
  '013-fair-jobs',
  '014-pages-of-messages',
  '015-leases-of-workers',
  '016-campaigns',
  '017-reports',
  '018-campaign-counts',
  '019-operators',
  '020-prices-of-operators',
  '021-webhook-secrets',
  '022-webhook-attempts',
  '023-retention',
  '024-key-use',
  '025-low-credit',
  '026-dead-letter-order',
  '027-open-inbound-events',
  '028-messages-by-number',
  '029-parked-by-provider',
  '030-failed-starts',
  '031-versions-of-trees',
  '032-whatsapp-numbers',
  '033-oldest-parked',
  '034-prices-of-seeds',
];

describe('migrations on SQLite', () => {
  it('migrations run once when they are called twice', () =>
    migrateTwice({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations give every endpoint with open events its job', () =>
    giveEndpointsTheirJobs({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations keep the existing events, and make an inbound event unique', () =>
    keepEvents({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations make the messages to a number findable that were stored before', async () => {
    const database = openDatabase({ kind: 'sqlite', filename: ':memory:' });
    await migrateTo(database, '026-dead-letter-order');
    const phoneNumber = '9647701234567' as PhoneNumber;
    await database.knex('messages').insert(
      [1, 2, 3].map((n) => ({
        sms_id: anSmsId(n),
        project_id: PROJECT_ID,
        phone_number: phoneNumber,
        whatsapp_sender: '{}',
        content: '{}',
        channels: '["sms"]',
        attempts: '[]',
        status: 'pending',
        is_final: 0,
        cost: 1,
        prices: '{}',
        settlement: 'quoted',
        attempt_timeout_ms: 30_000,
        created_at: n,
      })),
    );
    await database.migrate();
    const search = { projectId: null, phoneNumber, from: 0, to: 9, after: null, limit: 9 };
    const found = await new SqlUnitOfWork(database).read(({ messageSearch }) => messageSearch.newest(search));
    expect(found.rows.map(({ smsId }) => smsId)).toEqual([3, 2, 1].map((n) => anSmsId(n)));
    await database.close();
  });

  it('migrations convert rows that were stored under earlier names', () =>
    convertStoredWords({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations give every job its project and priority', () =>
    giveJobsTheirProjects({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations leave a lease without a worker as it is', () =>
    leaveLeasesWithoutWorker({ kind: 'sqlite', filename: ':memory:' }));

  it('operators read the dead-letter jobs in the order of an index', () =>
    readDeadLettersByIndex({ kind: 'sqlite', filename: ':memory:' }));

  it('the parked receipts of a provider are counted by an index', () =>
    countParkedByIndex({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations keep parked receipts, which count for no provider', () =>
    keepParkedReceipts({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations count the open conversations of every portfolio', () =>
    countConversations({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations find the whatsapp numbers in the stored trees', () =>
    findStoredNumbers({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations make the list of a seed file a price version', () =>
    keepSeedPrices({ kind: 'sqlite', filename: ':memory:' }));

  it('migrations make a price version of a seed beside those that are not in force, and none without a list', () =>
    keepSeedPricesOnce({ kind: 'sqlite', filename: ':memory:' }));

  it('one process migrates at a time when three processes start at once', {
    timeout: PROCESS_TIMEOUT_MS,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'barid-migrations-'));
    await migrateInThreeProcesses({ kind: 'sqlite', filename: join(folder, 'barid.db') });
    rmSync(folder, { recursive: true });
  });

  it('a process with nothing to migrate waits for no other one that migrates', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'barid-migrations-'));
    await migrateBesideAnother({ kind: 'sqlite', filename: join(folder, 'barid.db') });
    rmSync(folder, { recursive: true });
  });
});

describe.skipIf(POSTGRES_URL === undefined)(
  `migrations on PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    it('migrations run once when they are called twice', () => inOwnSchema(migrateTwice));

    it('a database that is read-only is said to store nothing, also when no migration is pending', () =>
      inOwnDatabase(migrateReadOnly));

    it('migrations give every endpoint with open events its job', () => inOwnSchema(giveEndpointsTheirJobs));

    it('migrations find the whatsapp numbers in the stored trees', () => inOwnSchema(findStoredNumbers));

    it('migrations keep the existing events, and make an inbound event unique', () =>
      inOwnSchema(keepEvents));

    it('migrations convert rows that were stored under earlier names', () => inOwnSchema(convertStoredWords));

    it('migrations give every job its project and priority', () => inOwnSchema(giveJobsTheirProjects));

    it('migrations leave a lease without a worker as it is', () => inOwnSchema(leaveLeasesWithoutWorker));

    it('operators read the dead-letter jobs in the order of an index', () =>
      inOwnSchema(readDeadLettersByIndex));

    it('the parked receipts of a provider are counted by an index', () => inOwnSchema(countParkedByIndex));

    it('migrations keep parked receipts, which count for no provider', () => inOwnSchema(keepParkedReceipts));

    it('migrations count the open conversations of every portfolio', () => inOwnSchema(countConversations));

    it('migrations make the list of a seed file a price version', () => inOwnSchema(keepSeedPrices));

    it('migrations make a price version of a seed beside those that are not in force, and none without a list', () =>
      inOwnSchema(keepSeedPricesOnce));

    it(
      'one process migrates at a time when three processes start at once',
      { timeout: PROCESS_TIMEOUT_MS },
      () => inOwnSchema(migrateInThreeProcesses),
    );

    it('a process with nothing to migrate waits for no other one that migrates', () =>
      inOwnSchema(migrateBesideAnother));

    it('a process waits until the list of migrations is not locked any more', () =>
      inOwnSchema(migrateBesideLock));
  },
);

async function migrateTwice(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  await database.migrate();
  await database.migrate();
  expect(await namesIn(database)).toEqual(NAMES);
  expect(await new SqlUnitOfWork(database).read(({ projects }) => projects.isEmpty())).toBe(true);
  await database.close();
}

async function migrateBesideAnother(config: DatabaseConfig): Promise<void> {
  const first = openDatabase(config);
  await first.migrate();
  const second = openDatabase(config);
  await first.knex.transaction(async (transaction) => {
    await first.dialect.acquireMigrationLock(transaction);
    await second.migrate();
  });
  await second.close();
  await first.close();
}

async function migrateBesideLock(config: DatabaseConfig): Promise<void> {
  const first = openDatabase(config);
  await first.migrate();
  const second = openDatabase(config);
  let migrated: Promise<void> | undefined;
  await first.knex.transaction(async (transaction) => {
    await transaction.raw('LOCK TABLE knex_migrations IN ACCESS EXCLUSIVE MODE');
    migrated = second.migrate();
    const ofMigration = "locktype = 'advisory' AND objid = hashtext(current_schema())::oid";
    const isWaiting = async () =>
      (await transaction.raw(`SELECT 1 FROM pg_locks WHERE ${ofMigration}`)).rows.length > 0;
    await Promise.race([migrated, until(isWaiting)]);
  });
  await migrated;
  await second.close();
  await first.close();
}

async function migrateReadOnly(config: PostgresConfig): Promise<void> {
  const writable = openDatabase(config);
  await writable.migrate();
  await writable.close();
  const url = new URL(config.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const database = openDatabase({ ...config, url: url.href });
  try {
    await expect(database.migrate()).rejects.toMatchObject({
      name: 'StorageUnwritable',
      reason: 'it is read-only',
    });
  } finally {
    await database.close();
  }
}

/** With enough rows that a plan which sorts them all would be seen. */
async function readDeadLettersByIndex(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await database.migrate();
  const rows = Array.from({ length: 5_000 }, (_, index) => ({
    id: `sms-${index}/start/0`,
    project_id: 'p1',
    priority: 0,
    work: `{"kind":"${index % 2 === 0 ? 'start-attempt' : 'deliver-webhooks'}","smsId":"sms-${index}"}`,
    fencing_token: 1,
    reason: 'r',
    dead_lettered_at: index,
  }));
  await knex.batchInsert('dead_letter_jobs', rows, 500);
  await knex.raw('ANALYZE dead_letter_jobs');
  const older = 'WHERE (dead_lettered_at, id) < (?, ?)';
  const newer = 'WHERE (dead_lettered_at, id) > (?, ?)';
  const newestFirst = 'ORDER BY dead_lettered_at DESC, id DESC LIMIT 51';
  const oldestFirst = 'ORDER BY dead_lettered_at, id LIMIT 201';
  const kind = '{"kind":"deliver-webhooks"%';
  const reads: readonly (readonly [sql: string, parameters: readonly (string | number)[]])[] = [
    [`${older} ${newestFirst}`, [Number.MAX_SAFE_INTEGER, '']],
    [`${older} AND work LIKE ? ${newestFirst}`, [4_000, 'x', kind]],
    [`${newer} ${oldestFirst}`, [-1, '']],
    [`${newer} AND work LIKE ? ${oldestFirst}`, [-1, '', kind]],
  ];
  const explain = config.kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  for (const [read, parameters] of reads) {
    const plan = JSON.stringify(
      await knex.raw(`${explain} SELECT * FROM dead_letter_jobs ${read}`, parameters),
    );
    expect(plan, read).toContain('dead_letter_jobs_by_time');
    expect(plan, read).not.toMatch(/\bSort\b|TEMP B-TREE/);
  }
  await database.close();
}

const aSubmission = (index: number) => ({
  channel: 'sms',
  provider_message_id: `a:${index}`,
  sms_id: anSmsId(index),
  attempt_number: 0,
  expires_at: index,
});

/** With recorded ids of the same provider, which must not be read. */
async function countParkedByIndex(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await database.migrate();
  const rows = Array.from({ length: 5_000 }, (_, index) => aSubmission(index));
  await knex.batchInsert('submissions', rows, 500);
  const explain = config.kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  const count = 'SELECT COUNT(*) AS ids FROM submissions WHERE parked_provider = ? AND sms_id IS NULL';
  for (const statistics of [null, 'ANALYZE submissions']) {
    if (statistics !== null) await knex.raw(statistics);
    const plan = JSON.stringify(await knex.raw(`${explain} ${count}`, ['a']));
    expect(plan, count).toContain(
      config.kind === 'sqlite'
        ? 'COVERING INDEX submissions_parked_by_provider'
        : 'submissions_parked_by_provider',
    );
  }
  await database.close();
}

async function keepParkedReceipts(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  await migrateTo(database, '028-messages-by-number');
  const parked_receipts = '[{"kind":"delivered"}]';
  await database
    .knex('submissions')
    .insert({ ...aSubmission(1), sms_id: null, attempt_number: null, parked_receipts });
  await database.migrate();
  const unitOfWork = new SqlUnitOfWork(database);
  const idOf = (number: number) => ({ channel: 'sms', providerMessageId: `a:${number}` }) as const;
  const early = { ...idOf(2), receipt: { kind: 'delivered' } } as const;
  expect(await unitOfWork.run(({ submissions }) => submissions.park([early], 9))).toEqual([null]);
  const attempt = { smsId: anSmsId(1), attemptNumber: 0 };
  expect(
    await unitOfWork.run(({ submissions }) => submissions.record([{ ...idOf(1), ...attempt }], 9)),
  ).toEqual([{ ...idOf(1), ...attempt, receipt: { kind: 'delivered' } }]);
  await database.close();
}

/** From a database where every event had a job of its own. */
async function giveEndpointsTheirJobs(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '006-installation');
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
  const jobs = await new SqlUnitOfWork(database).run((stores) =>
    stores.jobs.lease({ workerId: 'worker', now: 80, until: 90, limit: 10 }),
  );
  const delivery = (endpoint: string) => ({
    id: `webhooks/p1/${endpoint}`,
    fencingToken: 1,
    work: { kind: 'deliver-webhooks', projectId: 'p1', endpoint },
  });
  expect(jobs).toEqual([
    { id: start.id, fencingToken: 4, work: { kind: 'start-attempt', smsId: 'sms-1', attemptNumber: 0 } },
    delivery('a.example/1'),
    delivery('a.example/2'),
  ]);
  expect(await knex('dead_letter_jobs').pluck('id')).toEqual([]);
  await database.close();
}

/** From a database where the health of endpoints was shared by all projects. */
async function keepEvents(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '007-webhook-lanes');
  await knex('webhook_endpoints').insert({ endpoint: 'a.example/1', health: '{}', touched_at: 1 });
  const event = (id: string, kind: string) => ({
    id,
    kind,
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
    { ...event('e1', 'delivery'), subject: 'sms-1' },
    { ...event('e2', 'delivery'), subject: 'sms-1' },
    { ...event('e3', 'inbound'), subject: 'e3' },
  ]);

  await database.migrate();
  expect(await knex('webhook_events').orderBy('id').pluck('id')).toEqual(['e1', 'e2', 'e3']);
  await expect(
    knex('webhook_events').insert({ ...event('e4', 'inbound'), ordering_key: 'e3' }),
  ).rejects.toThrow(/unique/i);
  expect(await knex('webhook_circuit_breakers').pluck('destination')).toEqual([]);
  await database.close();
}

/** From a database whose tables, columns and stored words had other names. */
async function convertStoredWords(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '008-webhook-lane-health');
  const settings = { language: 'ar', stepTimeoutMs: { verification: 30_000, other: 300_000 } };
  await knex('projects').insert({
    id: 'p1',
    slug: 'p1',
    name: 'P1',
    environment: 'dev',
    settings: JSON.stringify(settings),
  });
  await knex('messages').insert({
    sms_id: 'sms-1',
    project_id: 'p1',
    phone_number: '9647701234567',
    whatsapp_sender: '{}',
    content: '{}',
    channels: '["whatsapp","telegram","sms"]',
    steps: JSON.stringify([
      {
        channel: 'whatsapp',
        state: 'refused',
        reason: 'said {"reference":"x","startedAt":1}',
        reference: null,
        startedAt: 1,
        endedAt: 2,
      },
      { channel: 'sms', state: 'accepted', reason: null, reference: 'r-"1"', startedAt: 3, endedAt: null },
    ]),
    status: 'sent',
    is_final: 0,
    cost: 1,
    prices: '{}',
    settlement: 'quoted',
    step_timeout_ms: 30_000,
    created_at: 1,
  });
  const work = JSON.stringify({ kind: 'step-deadline', smsId: 'sms-1', step: 1 });
  await knex('jobs').insert({ id: 'sms-1/deadline/1', work, due_at: 50, fence: 3, failures: 0 });
  await knex('dead_jobs').insert({ id: 'd', work, fence: 1, reason: '?', buried_at: 5 });
  await knex('idempotent_answers').insert({
    project_id: 'p1',
    route: 'POST /sms',
    key: 'k',
    request_hash: 'h',
    result: '{}',
    expires_at: 9,
  });
  const health = { failuresInRow: 10, recent: [], openUntil: 60_000, windows: 2, isProbing: true };
  await knex('webhook_endpoints').insert({
    lane: 'p1/a.example/1',
    health: JSON.stringify(health),
    touched_at: 1,
  });

  await database.migrate();
  const stored = await knex('messages').first('attempts', 'attempt_timeout_ms');
  expect(Number(stored.attempt_timeout_ms)).toBe(30_000);
  expect(JSON.parse(stored.attempts)).toEqual([
    {
      channel: 'whatsapp',
      state: 'rejected',
      reason: 'said {"reference":"x","startedAt":1}',
      providerMessageIds: [],
      deliveredIds: [],
      startedAt: 1,
      endedAt: 2,
    },
    {
      channel: 'sms',
      state: 'accepted',
      reason: null,
      providerMessageIds: ['r-"1"'],
      deliveredIds: [],
      startedAt: 3,
      endedAt: null,
    },
  ]);
  expect(JSON.parse((await knex('projects').first('settings')).settings)).toEqual({
    language: 'ar',
    attemptTimeoutMs: { verification: 30_000, other: 300_000 },
  });
  const deadline = { kind: 'attempt-deadline', smsId: 'sms-1', attemptNumber: 1 };
  await new SqlUnitOfWork(database).run(async (stores) => {
    expect(await stores.jobs.lease({ workerId: 'worker', now: 50, until: 60, limit: 1 })).toEqual([
      { id: 'sms-1/deadline/1', fencingToken: 4, work: deadline },
    ]);
    const newest = { kind: null, reason: null, after: null, limit: 1 };
    expect(await stores.deadLetters.list(newest)).toMatchObject([
      { id: 'd', reason: '?', deadLetteredAt: 5 },
    ]);
    await stores.deadLetters.redrive(await stores.deadLetters.lock({ kind: null, ids: null }, 9), 60);
    expect(await stores.jobs.lease({ workerId: 'worker', now: 60, until: 70, limit: 9 })).toContainEqual({
      id: 'd',
      fencingToken: 61,
      work: deadline,
    });
    expect(await stores.idempotency.find([{ projectId: 'p1', route: 'POST /sms', key: 'k' }], 8)).toEqual([
      { projectId: 'p1', route: 'POST /sms', key: 'k', requestDigest: 'h', result: '{}', expiresAt: 9 },
    ]);
    expect(await stores.circuitBreakers.read(['p1/a.example/1'])).toEqual(
      new Map([
        [
          'p1/a.example/1',
          { failuresInRow: 10, recent: [], openUntil: 60_000, consecutiveOpens: 2, isHalfOpen: true },
        ],
      ]),
    );
  });
  await database.close();
}

/** From a database where the jobs of all projects were in one order. */
async function giveJobsTheirProjects(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '012-key-checksums');
  const [codeId, textId, goneId] = [1, 2, 3].map((n) => anSmsId(n));
  const message = (smsId: string | undefined, projectId: string, content: object) => ({
    sms_id: smsId,
    project_id: projectId,
    phone_number: '9647701234567',
    whatsapp_sender: '{}',
    content: JSON.stringify(content),
    channels: '["sms"]',
    attempts: '[]',
    status: 'pending',
    is_final: 0,
    cost: 1,
    prices: '{}',
    settlement: 'quoted',
    attempt_timeout_ms: 30_000,
    created_at: 1,
  });
  const words = 'say "smsType":"verification"';
  await knex('messages').insert([
    message(codeId, 'p1', { smsType: 'verification', verificationCode: '1234' }),
    message(textId, 'p2', { smsType: 'custom', customMessage: words }),
  ]);
  const job = (id: string) => ({ id, work: '{"kind":"?"}', fencing_token: 1 });
  const ids = [
    `${codeId}/start/0`,
    `${textId}/deadline/1`,
    `${goneId}/start/0`,
    `webhooks/${PROJECT_ID}/a.example/1`,
  ];
  await knex('jobs').insert(ids.map((id) => ({ ...job(id), due_at: 50, failures: 0 })));
  await knex('dead_letter_jobs').insert(ids.map((id) => ({ ...job(id), reason: '?', dead_lettered_at: 5 })));

  await database.migrate();
  for (const table of ['jobs', 'dead_letter_jobs']) {
    const rows = await knex(table).select('id', 'project_id', 'priority').orderBy('id');
    expect(rows.map((row) => [row.id, row.project_id, Number(row.priority)])).toEqual([
      [ids[0], 'p1', 10],
      [ids[1], 'p2', 20],
      [ids[2], '-', 20],
      [ids[3], PROJECT_ID, 40],
    ]);
  }
  const leased = await new SqlUnitOfWork(database).run(({ jobs }) =>
    jobs.lease({ workerId: 'worker', now: 50, until: 60, limit: 10 }),
  );
  expect(leased.map(({ id }) => id)).toEqual([ids[0], ids[2], ids[1], ids[3]]);
  await database.close();
}

/** From a database where a lease named no worker. */
async function leaveLeasesWithoutWorker(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '014-pages-of-messages');
  const job = (id: string, isLeased: number) => ({
    id,
    project_id: 'p1',
    priority: 20,
    work: '{"kind":"?"}',
    due_at: 50,
    is_available: 0,
    is_leased: isLeased,
    fencing_token: isLeased,
    failures: 0,
  });
  await knex('jobs').insert([job('leased', 1), job('waiting', 0)]);
  await database.migrate();
  expect(await knex('jobs').select('id', 'leased_by').orderBy('id')).toEqual([
    { id: 'leased', leased_by: '' },
    { id: 'waiting', leased_by: null },
  ]);
  await database.close();
}

/** From a database where the row of a portfolio did not count its conversations. */
async function countConversations(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '016-campaigns');
  const conversation = (portfolio: string, n: number) => ({
    portfolio_id: portfolio,
    phone_number: `964770000000${n}`,
    opened_at: n,
  });
  await knex('portfolios').insert([{ id: 'a' }, { id: 'none' }]);
  await knex('conversations').insert([conversation('a', 1), conversation('a', 2), conversation('b', 1)]);
  await database.migrate();
  const counts = await new SqlUnitOfWork(database).read(({ conversations }) =>
    Promise.all(['a', 'b', 'none'].map((portfolio) => conversations.count(portfolio, 0))),
  );
  expect(counts).toEqual([2, 1, 0]);
  await database.close();
}

/** From a database where only the trees had the whatsapp numbers, one of them twice. */
async function findStoredNumbers(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  await migrateTo(database, '031-versions-of-trees');
  const unitOfWork = new SqlUnitOfWork(database);
  const account = (id: string) =>
    aWhatsappAccount({ phoneNumbers: [aWhatsappPhoneNumber({ id, phoneNumberId: '77' })] });
  await unitOfWork.run(async ({ projects, whatsapp }) => {
    await projects.insert([aProject()]);
    const whatsappAccounts = [account('first'), account('second')];
    await whatsapp.replace(PROJECT_ID, [aWhatsappBusiness({ name: 'nul \u0000', whatsappAccounts })]);
  });
  await database.migrate();
  const found = await unitOfWork.read(({ whatsapp }) => whatsapp.phoneIdsOf(['77', '78']));
  expect([...found]).toEqual([['77', 'first']]);
  await database.close();
}

const SEED_LIST = {
  sms: { korekTelecom: 80_000, asiaCell: 81_000, zainIraq: 82_000, others: 100_000 },
  whatsapp: { AUTHENTICATION: 60_000, UTILITY: 61_000, MARKETING: 90_000 },
  telegram: 40_500,
};

/** From a database where the list of a seed file had tables of its own. The version before reads them still. */
async function keepSeedPrices(config: DatabaseConfig): Promise<void> {
  const database = openDatabase(config);
  const { knex } = database;
  await migrateTo(database, '033-oldest-parked');
  const emirates = anInternationalPrice({ countryIso: 'AE', countryCode: '971', mccMnc: '42402' });
  const turkcell = anInternationalPrice({ mccMnc: '28601', network: 'Turkcell', price: iqd(110) });
  const avea = anInternationalPrice({ mccMnc: '28601', network: 'avea', price: iqd(130) });
  const vodafone = anInternationalPrice({ mccMnc: '28602', network: 'Vodafone', price: iqd(120) });
  await knex('price_lists').insert({ id: 1, document: JSON.stringify(SEED_LIST) });
  const stored = [vodafone, avea, emirates, turkcell].map((row, position) => ({
    position,
    country_iso: row.countryIso,
    mcc_mnc: row.mccMnc,
    network: row.network,
    document: JSON.stringify(row),
  }));
  await knex('international_prices').insert(stored);
  const before = Date.now();
  await database.migrate();
  await new SqlUnitOfWork(database).read(async ({ priceVersions }) => {
    const [version, ...others] = await priceVersions.list(null, 9);
    expect(others).toEqual([]);
    expect(version).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}0{12}$/),
      effectiveFrom: 0,
      createdAt: expect.any(Number),
      actor: 'seed',
      rowCount: 4,
      withdrawnAt: null,
    });
    const { id, createdAt } = version ?? { id: '', createdAt: 0 };
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(Number.parseInt(id.slice(0, 12), 16)).toBe(createdAt);
    expect(await priceVersions.inForceAt(createdAt)).toEqual(version);
    expect(await priceVersions.revision()).toBe(1);
    expect(await priceVersions.listOf(id)).toEqual({
      ...SEED_LIST,
      internationalByCountryCode: new Map([
        ['971', 120_000],
        ['90', 130_000],
      ]),
    });
    expect(await priceVersions.countriesOf(id)).toEqual(['AE', 'TR']);
    const page = (number: number) =>
      priceVersions.international(id, { countryIso: null }, { page: number, limit: 2 });
    expect(await page(1)).toEqual({ total: 4, rows: [emirates, turkcell] });
    expect(await page(2)).toEqual({ total: 4, rows: [avea, vodafone] });
  });
  expect(await knex('price_lists').pluck('document')).toEqual([JSON.stringify(SEED_LIST)]);
  expect(await knex('international_prices').pluck('document')).toHaveLength(4);
  await database.close();
}

/** From databases where operators had imported lists, each with the actors of the versions that are there afterwards. */
async function keepSeedPricesOnce(config: DatabaseConfig): Promise<void> {
  const later = Date.now() + 86_400_000;
  const version = (id: string, effectiveFrom: number, withdrawnAt: number | null = null) => ({
    id,
    effective_from: effectiveFrom,
    created_at: 1,
    actor: 'cli',
    row_count: 0,
    document: JSON.stringify({ ...SEED_LIST, byCountryCode: [] }),
    withdrawn_at: withdrawnAt,
  });
  const cases = [
    { hasList: false, versions: [], actors: [] },
    { hasList: true, versions: [version('a', 5)], actors: ['cli'] },
    { hasList: true, versions: [version('a', 5, 4), version('b', later)], actors: ['cli', 'cli', 'seed'] },
    { hasList: false, versions: [version('b', later)], actors: ['cli'] },
  ];
  for (const { hasList, versions, actors } of cases) {
    const database = openDatabase(config);
    const { knex } = database;
    await migrateTo(database, '033-oldest-parked');
    if (hasList) await knex('price_lists').insert({ id: 1, document: JSON.stringify(SEED_LIST) });
    if (versions.length > 0) await knex('price_versions').insert(versions);
    await database.migrate();
    expect(await knex('price_versions').orderBy('actor').pluck('actor')).toEqual(actors);
    if (config.kind === 'postgres') await knex.raw('DROP SCHEMA ?? CASCADE', [config.schema ?? '']);
    await database.close();
  }
}

/** Runs the migrations up to and including the one named. */
async function migrateTo({ knex, dialect }: Database, name: string): Promise<void> {
  const source = migrationsFor(dialect);
  const until = NAMES.indexOf(name) + 1;
  await knex.transaction(async (transaction) => {
    await dialect.acquireMigrationLock(transaction);
    await transaction.migrate.latest({
      migrationSource: {
        ...source,
        getMigrations: async () => (await source.getMigrations([])).slice(0, until),
      },
    });
  });
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

async function inOwnDatabase(work: (config: PostgresConfig) => Promise<void>): Promise<void> {
  const server = POSTGRES_URL ?? '';
  const name = `migrations_${randomUUID().replaceAll('-', '')}`;
  const url = await createDatabase(server, name);
  try {
    await work({ kind: 'postgres', url, poolSize: 1, statementTimeoutMs: 10_000 });
  } finally {
    await queryPostgres(server, `DROP DATABASE ${name}`);
  }
}
