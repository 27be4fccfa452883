import type { Stores } from '../../application/ports/stores.ts';
import type { Durability, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { StorageUnavailable } from '../../application/storage-unavailable.ts';
import { KnexAccountStore } from './account-store.ts';
import { KnexCircuitBreakerStore } from './circuit-breaker-store.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { KnexIdempotencyStore } from './idempotency-store.ts';
import { KnexInboundWebhookStore } from './inbound-webhook-store.ts';
import { KnexInstallationStore } from './installation-store.ts';
import { KnexJobStore } from './job-store.ts';
import { KnexLedgerStore } from './ledger-store.ts';
import { KnexMessageStore } from './message-store.ts';
import { KnexPriceStore } from './price-store.ts';
import { KnexProjectStore } from './project-store.ts';
import { KnexSenderIdStore } from './sender-id-store.ts';
import { Session } from './session.ts';
import { KnexWebhookEventStore } from './webhook-event-store.ts';
import { KnexWhatsappStore } from './whatsapp-store.ts';

/** How often a transaction is tried that others keep getting in the way of. */
const TRANSACTION_ATTEMPTS_MAX = 5;

/** One transaction, or one connection, with every store on it. */
export class KnexUnitOfWork implements UnitOfWork {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async run<T>(work: (stores: Stores) => Promise<T>, durability: Durability = 'full'): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#database.withConnection((connection) =>
        transact(connection, work, durability),
      );
      if (outcome.kind === 'committed') return outcome.result;
      if (attempt >= TRANSACTION_ATTEMPTS_MAX || !this.#database.dialect.isConflict(outcome.cause)) {
        throw outcome.error;
      }
    }
  }

  async read<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    return this.#database.withConnection(async (connection) => {
      const session = new Session(connection, 'read');
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
  work: (stores: Stores) => Promise<T>,
  durability: Durability,
): Promise<Outcome<T>> {
  const session = new Session(connection, 'transaction');
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
    projects: new KnexProjectStore(session),
    accounts: new KnexAccountStore(session),
    ledger: new KnexLedgerStore(session),
    senderIds: new KnexSenderIdStore(session),
    prices: new KnexPriceStore(session),
    whatsapp: new KnexWhatsappStore(session),
    messages: new KnexMessageStore(session),
    jobs: new KnexJobStore(session),
    idempotency: new KnexIdempotencyStore(session),
    webhookEvents: new KnexWebhookEventStore(session),
    circuitBreakers: new KnexCircuitBreakerStore(session),
    inboundWebhooks: new KnexInboundWebhookStore(session),
    installation: new KnexInstallationStore(session),
  };
}
