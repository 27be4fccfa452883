import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Stores } from '../../application/ports/stores.ts';
import type { Durability, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { StorageUnavailable } from '../../application/storage-unavailable.ts';
import type { Database } from './database.ts';
import type { Connection } from './driver/connection.ts';
import { Session } from './driver/session.ts';
import { SqlAccountStore } from './stores/account-store.ts';
import { SqlCircuitBreakerStore } from './stores/circuit-breaker-store.ts';
import { SqlIdempotencyStore } from './stores/idempotency-store.ts';
import { SqlInboundWebhookStore } from './stores/inbound-webhook-store.ts';
import { SqlInstallationStore } from './stores/installation-store.ts';
import { SqlJobStore } from './stores/job-store.ts';
import { SqlLedgerStore } from './stores/ledger-store.ts';
import { SqlMessageStore } from './stores/message-store.ts';
import { SqlPriceStore } from './stores/price-store.ts';
import { SqlProjectStore } from './stores/project-store.ts';
import { SqlSenderIdStore } from './stores/sender-id-store.ts';
import { SqlSubmissionStore } from './stores/submission-store.ts';
import { SqlWebhookEventStore } from './stores/webhook-event-store.ts';
import { SqlWhatsappStore } from './stores/whatsapp-store.ts';
import { SqlWorkerStore } from './stores/worker-store.ts';

/** How often a transaction is tried that conflicts with others. */
const TRANSACTION_ATTEMPTS_MAX = 5;
/** A transaction that another process keeps waiting is tried again after this time. */
const LOCK_RETRY_MS = 10;

/** One transaction, or one connection, with every store on it. */
export class SqlUnitOfWork implements UnitOfWork {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async run<T>(work: (stores: Stores) => Promise<T>, durability: Durability = 'full'): Promise<T> {
    const { knex, dialect } = this.#database;
    const lockedUntil = performance.now() + dialect.lockWaitMs;
    for (let conflicts = 0; ; ) {
      const outcome = await this.#database.withConnection((connection) =>
        transact(connection, knex, work, durability),
      );
      if (outcome.kind === 'committed') return outcome.result;
      if (dialect.isLocked(outcome.cause)) {
        if (performance.now() >= lockedUntil) throw new StorageUnavailable(outcome.cause);
        // Without the connection: others read meanwhile.
        await sleep(LOCK_RETRY_MS);
        continue;
      }
      conflicts += 1;
      if (conflicts >= TRANSACTION_ATTEMPTS_MAX || !dialect.isConflict(outcome.cause)) throw outcome.error;
    }
  }

  async read<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    return this.#database.withConnection(async (connection) => {
      const session = new Session(connection, this.#database.knex, 'read');
      try {
        return await work(storesOn(session));
      } finally {
        session.end();
      }
    });
  }

  ping(): Promise<void> {
    return this.#database.ping();
  }
}

type Outcome<T> =
  | { readonly kind: 'committed'; readonly result: T }
  /** `cause` is the first statement that failed: what `work` made of it may say less. */
  | { readonly kind: 'undone'; readonly error: unknown; readonly cause: unknown };

async function transact<T>(
  connection: Connection,
  knex: Knex,
  work: (stores: Stores) => Promise<T>,
  durability: Durability,
): Promise<Outcome<T>> {
  const session = new Session(connection, knex, 'transaction');
  try {
    await connection.begin(durability);
    const result = await work(storesOn(session));
    session.end();
    if (session.failure !== null) throw session.failure.error;
    await connection.commit();
    return { kind: 'committed', result };
  } catch (error) {
    session.end();
    await connection.rollback();
    const cause = session.failure === null ? error : session.failure.error;
    return { kind: 'undone', error: connection.isUsable() ? error : new StorageUnavailable(cause), cause };
  }
}

function storesOn(session: Session): Stores {
  return {
    projects: new SqlProjectStore(session),
    accounts: new SqlAccountStore(session),
    ledger: new SqlLedgerStore(session),
    senderIds: new SqlSenderIdStore(session),
    prices: new SqlPriceStore(session),
    whatsapp: new SqlWhatsappStore(session),
    messages: new SqlMessageStore(session),
    submissions: new SqlSubmissionStore(session),
    jobs: new SqlJobStore(session),
    idempotency: new SqlIdempotencyStore(session),
    webhookEvents: new SqlWebhookEventStore(session),
    circuitBreakers: new SqlCircuitBreakerStore(session),
    inboundWebhooks: new SqlInboundWebhookStore(session),
    workers: new SqlWorkerStore(session),
    installation: new SqlInstallationStore(session),
  };
}
