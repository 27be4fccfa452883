import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { type Database, openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { acceptInboundContract } from './accept-inbound.contract.ts';
import { advanceMessagesContract } from './advance-messages.contract.ts';
import { campaignStoresContract } from './campaign-stores.contract.ts';
import { catalogStoresContract } from './catalog-stores.contract.ts';
import { creditChangesContract } from './credit-changes.contract.ts';
import { deliveryReceiptsContract } from './delivery-receipts.contract.ts';
import { jobAdministrationContract } from './job-administration.contract.ts';
import { operatorLogContract } from './operator-log.contract.ts';
import { operatorStoresContract } from './operator-stores.contract.ts';
import { recordDeliveriesContract } from './record-deliveries.contract.ts';
import { reportStoreContract } from './report-store.contract.ts';
import { retentionContract } from './retention.contract.ts';
import { runAttemptJobsContract } from './run-attempt-jobs.contract.ts';
import { sendMessagesContract } from './send-messages.contract.ts';
import type { Storage } from './storage.ts';
import { storesContract } from './stores.contract.ts';
import { submissionStoreContract } from './submission-store.contract.ts';
import { unitOfWorkContract } from './unit-of-work.contract.ts';
import { webhookStoresContract } from './webhook-stores.contract.ts';
import { whatsappSyncContract } from './whatsapp-sync.contract.ts';
import { whatsappUsesContract } from './whatsapp-uses.contract.ts';
import { workerStoreContract } from './worker-store.contract.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const POSTGRES_POOL_SIZE = 8;
const STATEMENT_TIMEOUT_MS = 10_000;
/** The server checks for deadlocks early, so that the suite does not wait a second for it. */
const EARLY_DEADLOCKS = 'options=-c%20deadlock_timeout%3D50ms';

interface Leftovers {
  /** Called before the database is closed. */
  readonly dropSchema?: () => Promise<void>;
  /** Called after. */
  readonly removeFiles?: () => void;
}

/** Children before the rows they refer to. */
const TABLES = [
  'api_keys',
  'api_key_uses',
  'accounts',
  'low_credit_notices',
  'sender_ids',
  'sender_id_reasons',
  'whatsapp_versions',
  'whatsapp_numbers',
  'whatsapp_resources',
  'inbound_webhooks',
  'inbound_webhook_rotations',
  'campaigns',
  'campaigns_without_numbers',
  'campaign_recipients',
  'sending_slots',
  'portfolios',
  'conversations',
  'service_windows',
  'reports',
  'projects',
  'ledger_entries',
  'price_version_countries',
  'price_versions',
  'messages',
  'submissions',
  'workers',
  'jobs',
  'dead_letter_jobs',
  'idempotency_records',
  'webhook_events',
  'webhook_attempts',
  'webhook_circuit_breakers',
  'installation',
  'audit_records',
  'retention_places',
  'retention_waiting',
];
/** SQLite has these besides. */
const TABLES_OF_BLOCKS = ['messages_by_number', 'number_blocks'];

describe('SQLite in memory', () => {
  allContracts(() => storageOn(openDatabase({ kind: 'sqlite', filename: ':memory:' }), 1));
});

describe('SQLite in a file', () => {
  allContracts(() => {
    const folder = mkdtempSync(join(tmpdir(), 'barid-persistence-'));
    const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'data', 'barid.db') });
    return storageOn(database, 1, { removeFiles: () => rmSync(folder, { recursive: true }) });
  });
});

if (POSTGRES_URL === undefined) {
  describe.skip('PostgreSQL (skipped: TEST_POSTGRES_URL is not set)', () => {
    allContracts(() => Promise.reject(new Error('TEST_POSTGRES_URL is not set')));
  });
} else {
  describe('PostgreSQL', () => {
    allContracts(() => {
      const schema = `contract_${randomUUID().replaceAll('-', '')}`;
      const database = openDatabase({
        kind: 'postgres',
        url: `${POSTGRES_URL}${POSTGRES_URL.includes('?') ? '&' : '?'}${EARLY_DEADLOCKS}`,
        schema,
        poolSize: POSTGRES_POOL_SIZE,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      });
      return storageOn(database, POSTGRES_POOL_SIZE, {
        dropSchema: async () => database.knex.raw('DROP SCHEMA ?? CASCADE', [schema]),
      });
    });
  });
}

function allContracts(open: () => Promise<Storage>): void {
  describe('unit of work', () => unitOfWorkContract(open));
  describe('catalog stores', () => catalogStoresContract(open));
  describe('message, job and idempotency stores', () => storesContract(open));
  describe('submission store', () => submissionStoreContract(open));
  describe('worker store', () => workerStoreContract(open));
  describe('webhook stores', () => webhookStoresContract(open));
  describe('campaign stores', () => campaignStoresContract(open));
  describe('operator stores', () => operatorStoresContract(open));
  describe('whatsapp resources in use', () => whatsappUsesContract(open));
  describe('administration of jobs', () => jobAdministrationContract(open));
  describe('messages and webhooks of operators', () => operatorLogContract(open));
  describe('report store', () => reportStoreContract(open));
  describe('results of delivery attempts', () => recordDeliveriesContract(open));
  describe('advancing messages', () => advanceMessagesContract(open));
  describe('the jobs of messages', () => runAttemptJobsContract(open));
  describe('delivery receipts', () => deliveryReceiptsContract(open));
  describe('changes of a balance', () => creditChangesContract(open));
  describe('inbound messages', () => acceptInboundContract(open));
  describe('retention', () => retentionContract(open));
  describe('sends', () => sendMessagesContract(open));
  describe('the synchronisation of whatsapp', () => whatsappSyncContract(open));
}

async function storageOn(
  database: Database,
  concurrency: number,
  { dropSchema = async () => {}, removeFiles = () => {} }: Leftovers = {},
): Promise<Storage> {
  await database.migrate();
  return {
    unitOfWork: new SqlUnitOfWork(database),
    concurrency,
    clear: () =>
      database.knex.transaction(async (transaction) => {
        const hasBlocks = database.dialect.numberIndex === 'blocks';
        for (const table of [...TABLES, ...(hasBlocks ? TABLES_OF_BLOCKS : [])]) {
          await transaction(table).delete();
        }
      }),
    dispose: async () => {
      await dropSchema();
      await database.close();
      removeFiles();
    },
  };
}
