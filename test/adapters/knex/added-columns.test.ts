import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import { anId, anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const SCHEMA = `added_columns_${process.pid}`;
const AGED = { projectId: PROJECT_ID, before: NOW, after: null, limit: 1 };
const PHONE = { projectId: PROJECT_ID, whatsappPhoneId: anId() };

/** Methods that read whole rows. */
const READS: readonly [string, (stores: Stores) => Promise<unknown>][] = [
  ['projects.byIds', ({ projects }) => projects.byIds([PROJECT_ID])],
  ['projects.byKeyDigest', ({ projects }) => projects.byKeyDigest('digest', NOW)],
  ['projects.named', ({ projects }) => projects.named(PROJECT_ID)],
  ['projects.lock', ({ projects }) => projects.lock([PROJECT_ID])],
  ['accounts.byProjectIds', ({ accounts }) => accounts.byProjectIds([PROJECT_ID])],
  ['accounts.lock', ({ accounts }) => accounts.lock([PROJECT_ID])],
  ['senderIds.byProjectIds', ({ senderIds }) => senderIds.byProjectIds([PROJECT_ID])],
  ['senderIds.find', ({ senderIds }) => senderIds.find(PROJECT_ID, 'Acme')],
  [
    'inboundWebhooks.byWhatsappPhoneIds',
    ({ inboundWebhooks }) => inboundWebhooks.byWhatsappPhoneIds([anId()]),
  ],
  ['inboundWebhooks.ofProject', ({ inboundWebhooks }) => inboundWebhooks.ofProject(PROJECT_ID, null, 1)],
  ['messages.find', ({ messages }) => messages.find(PROJECT_ID, anSmsId())],
  ['messages.lock', ({ messages }) => messages.lock([anSmsId()])],
  [
    'idempotency.find',
    ({ idempotency }) => idempotency.find([{ projectId: PROJECT_ID, route: '', key: '' }], NOW),
  ],
  ['ledger.byIds', ({ ledger }) => ledger.byIds([anId()])],
  ['campaigns.find', ({ campaigns }) => campaigns.find(PROJECT_ID, anId())],
  ['campaigns.lock', ({ campaigns }) => campaigns.lock([anId()])],
  ['campaigns.lockOf', ({ campaigns }) => campaigns.lockOf(PROJECT_ID, anId())],
  ['campaigns.lockScheduled', ({ campaigns }) => campaigns.lockScheduled()],
  ['campaigns.samplesOf', ({ campaigns }) => campaigns.samplesOf(PROJECT_ID, anId(), 1)],
  ['campaigns.audit', ({ campaigns }) => campaigns.audit()],
  ['recipients.ofCampaign', ({ recipients }) => recipients.ofCampaign(anId())],
  ['reports.find', ({ reports }) => reports.find([anId()])],
  ['reports.lock', ({ reports }) => reports.lock([anId()])],
  ['reports.ofFile', ({ reports }) => reports.ofFile('file')],
  ['retention.campaigns', ({ retention }) => retention.campaigns([anId()])],
  ['retention.endedCampaigns', ({ retention }) => retention.endedCampaigns(AGED)],
  ['retention.recipientsAt', ({ retention }) => retention.recipientsAt(anId(), 0, 1)],
  ['webhookEvents.lock', ({ webhookEvents }) => webhookEvents.lock([anId()])],
  ['webhookEvents.lockOpen', ({ webhookEvents }) => webhookEvents.lockOpen([anId()])],
  ['webhookEvents.lockOpenOfNumber', ({ webhookEvents }) => webhookEvents.lockOpenOfNumber(PHONE, '', 1)],
  [
    'webhookEvents.ofProject',
    ({ webhookEvents }) => webhookEvents.ofProject(PROJECT_ID, { after: '', last: '~' }, 1),
  ],
  ['webhookAttempts.ofOrderingKeys', ({ webhookAttempts }) => webhookAttempts.ofOrderingKeys(['key'], 1)],
  ['circuitBreakers.read', ({ circuitBreakers }) => circuitBreakers.read(['destination'])],
  ['circuitBreakers.lock', ({ circuitBreakers }) => circuitBreakers.lock(['destination'], NOW)],
];

describe.skipIf(POSTGRES_URL === undefined)(
  `prepared statements on PostgreSQL${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    let database: Database;
    let unitOfWork: SqlUnitOfWork;
    const newer = new pg.Client({ connectionString: POSTGRES_URL });

    /** Each read is prepared on the one connection, before another connection adds a column to each table. */
    beforeAll(async () => {
      database = openDatabase({
        kind: 'postgres',
        url: POSTGRES_URL ?? '',
        schema: SCHEMA,
        poolSize: 1,
        statementTimeoutMs: 2_000,
      });
      unitOfWork = new SqlUnitOfWork(database);
      await database.migrate();
      for (const [, read] of READS) await unitOfWork.run(read);
      await newer.connect();
      const { rows } = await newer.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [SCHEMA]);
      for (const { tablename } of rows) {
        await newer.query(`ALTER TABLE ${SCHEMA}.${tablename} ADD COLUMN added_by_a_newer_version text`);
      }
    });
    afterAll(async () => {
      await database.close();
      await newer.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
      await newer.end();
    });

    test.each(READS)('%s goes on after a newer version has added a column to its table', async (_, read) => {
      await expect(unitOfWork.run(read)).resolves.not.toThrow();
    });
  },
);
