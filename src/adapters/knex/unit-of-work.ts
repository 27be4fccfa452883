import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairGate } from '../../application/concurrency/fair-gate.ts';
import { StorageLocked } from '../../application/errors/storage-locked.ts';
import { StorageAway, StorageUnwritable } from '../../application/errors/storage-unavailable.ts';
import type { Stores } from '../../application/ports/stores.ts';
import type { Durability, LockWait, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { Database } from './database.ts';
import type { Connection } from './driver/connection.ts';
import { Session } from './driver/session.ts';
import { SqlAccountStore } from './stores/account-store.ts';
import { SqlAuditLogStore } from './stores/audit-log-store.ts';
import { SqlCampaignStore } from './stores/campaign-store.ts';
import { SqlCircuitBreakerStore } from './stores/circuit-breaker-store.ts';
import { SqlConversationStore } from './stores/conversation-store.ts';
import { SqlDeadLetterStore } from './stores/dead-letter-store.ts';
import { SqlIdempotencyStore } from './stores/idempotency-store.ts';
import { SqlInboundWebhookStore } from './stores/inbound-webhook-store.ts';
import { SqlInstallationStore } from './stores/installation-store.ts';
import { SqlJobStore } from './stores/job-store.ts';
import { SqlJobSurveyStore } from './stores/job-survey-store.ts';
import { SqlLedgerStore } from './stores/ledger-store.ts';
import { SqlMessageSearchStore } from './stores/message-search-store.ts';
import { SqlMessageStore } from './stores/message-store.ts';
import { SqlPriceVersionStore } from './stores/price-version-store.ts';
import { SqlProjectStore } from './stores/project-store.ts';
import { SqlRecipientStore } from './stores/recipient-store.ts';
import { SqlReportStore } from './stores/report-store.ts';
import { SqlRetentionStore } from './stores/retention-store.ts';
import { SqlSenderIdStore } from './stores/sender-id-store.ts';
import { SqlSendingSlotStore } from './stores/sending-slot-store.ts';
import { SqlSubmissionStore } from './stores/submission-store.ts';
import { SqlWebhookAttemptStore } from './stores/webhook-attempt-store.ts';
import { SqlWebhookEventStore } from './stores/webhook-event-store.ts';
import { SqlWebhookLogStore } from './stores/webhook-log-store.ts';
import { SqlWhatsappStore } from './stores/whatsapp-store.ts';
import { SqlWorkerStore } from './stores/worker-store.ts';

/** How often a transaction is tried that conflicts with others. */
const TRANSACTION_ATTEMPTS_MAX = 5;
/**
 * A transaction that waits for the lock of all of the database is tried again after this time, in milliseconds. It doubles with
 * each try: most locks are those of the file's own checkpoints, which end in 1 to 5 ms, and others may last for minutes.
 */
const LOCK_RETRY_MS = 1;
const LOCK_RETRY_MAX_MS = 10;
/** For the lock of a row the time is longer, and doubles too: many may wait, and each try holds a connection. */
const ROW_LOCK_RETRY_MS = 100;
const ROW_LOCK_RETRY_MAX_MS = 1_000;
/** The most such transactions that are tried again at a time: the other connections are for those that wait for no lock. */
const ROW_LOCK_TRIES_MAX = 3;
/**
 * A database that stored nothing counts as unwritable for this long: longer than the time between two heartbeats, each of which
 * finds out again. A small unit of work may succeed in between, in space that larger ones do not find.
 */
const UNWRITABLE_MS = 3_000;

/** One transaction, or one connection, with every store on it. */
export class SqlUnitOfWork implements UnitOfWork {
  readonly #database: Database;
  readonly #rowLockTries = new FairGate(
    { perKey: ROW_LOCK_TRIES_MAX, all: ROW_LOCK_TRIES_MAX },
    { clock: performance },
  );
  #unwritable: { readonly error: StorageUnwritable; readonly until: number } | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  async run<T>(
    work: (stores: Stores) => Promise<T>,
    durability: Durability = 'full',
    lockWait: LockWait = 'long',
  ): Promise<T> {
    const { dialect } = this.#database;
    const lockedUntil = performance.now() + dialect.lockWaitMs;
    const once = () =>
      this.#database.withConnection((connection) => transact(connection, this.#database, work, durability));
    /** How the lock of a row was met last. */
    let rowLock: unknown = null;
    const again = () => {
      // It may have waited long for the tries of others.
      if (performance.now() >= lockedUntil) throw new StorageLocked(rowLock);
      return once();
    };
    let retryMs = LOCK_RETRY_MS;
    let rowRetryMs = ROW_LOCK_RETRY_MS;
    for (let conflicts = 0; ; ) {
      const outcome = rowLock === null ? await once() : await this.#rowLockTries.run('', again);
      if (outcome.kind === 'committed') {
        await this.#durable(outcome.untilDurable);
        return outcome.result;
      }
      // Both wait without the connection: others work meanwhile.
      const locked = dialect.lockedPart(outcome.cause);
      if (locked === 'all') {
        if (performance.now() >= lockedUntil) throw new StorageAway(outcome.cause);
        await sleep(retryMs);
        retryMs = Math.min(2 * retryMs, LOCK_RETRY_MAX_MS);
        continue;
      }
      if (locked === 'row') {
        rowLock = outcome.cause;
        if (lockWait === 'brief' || performance.now() >= lockedUntil) throw new StorageLocked(rowLock);
        await sleep(rowRetryMs);
        rowRetryMs = Math.min(2 * rowRetryMs, ROW_LOCK_RETRY_MAX_MS);
        continue;
      }
      this.#throwUnavailable(outcome.error);
      this.#throwUnavailable(outcome.cause);
      if (!dialect.isConflict(outcome.cause)) throw outcome.error;
      conflicts += 1;
      if (conflicts >= TRANSACTION_ATTEMPTS_MAX) throw new StorageLocked(outcome.cause);
    }
  }

  async read<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    const { result, untilDurable } = await this.#database.withReader(async (reader) => {
      const session = Session.ofReads(reader, this.#database.knex);
      try {
        const result = await work(storesOn(session, this.#database));
        return { result, untilDurable: this.#database.dialect.untilDurable('eventual') };
      } catch (error) {
        const cause = session.failure === null ? error : session.failure.error;
        this.#throwUnavailable(cause);
        const { dialect } = this.#database;
        const metOthers = dialect.isConflict(cause) || dialect.lockedPart(cause) !== null;
        throw metOthers ? new StorageLocked(cause) : error;
      } finally {
        session.end();
      }
    });
    await this.#durable(untilDurable);
    return result;
  }

  async ping(): Promise<void> {
    const { dialect } = this.#database;
    await this.#database.withConnection((connection) => connection.query(dialect.ping, []));
    await this.#durable(dialect.untilDurable('eventual'));
    if (this.#unwritable !== null && performance.now() < this.#unwritable.until) throw this.#unwritable.error;
  }

  /** Without the connection: others work meanwhile. */
  async #durable(untilDurable: Promise<void> | null): Promise<void> {
    try {
      await untilDurable;
    } catch (error) {
      this.#throwUnavailable(error);
      throw error;
    }
  }

  #throwUnavailable(cause: unknown): void {
    const error = this.#database.unavailable(cause);
    if (error === null) return;
    if (error instanceof StorageUnwritable) {
      this.#unwritable = { error, until: performance.now() + UNWRITABLE_MS };
    }
    throw error;
  }
}

type Outcome<T> =
  | { readonly kind: 'committed'; readonly result: T; readonly untilDurable: Promise<void> | null }
  /** `cause` is the first statement that failed: what `work` made of it may say less. */
  | { readonly kind: 'undone'; readonly error: unknown; readonly cause: unknown };

async function transact<T>(
  connection: Connection,
  database: Database,
  work: (stores: Stores) => Promise<T>,
  durability: Durability,
): Promise<Outcome<T>> {
  const session = Session.ofTransaction(connection, database.knex);
  try {
    await connection.begin(durability);
    const result = await work(storesOn(session, database));
    session.end();
    if (session.failure !== null) throw session.failure.error;
    await connection.commit();
    return { kind: 'committed', result, untilDurable: database.dialect.untilDurable(durability) };
  } catch (error) {
    session.end();
    await connection.rollback();
    const cause = session.failure === null ? error : session.failure.error;
    return { kind: 'undone', error: connection.isUsable() ? error : database.lost(cause), cause };
  }
}

function storesOn(session: Session, { dialect, parsedTrees }: Database): Stores {
  return {
    projects: new SqlProjectStore(session),
    accounts: new SqlAccountStore(session),
    ledger: new SqlLedgerStore(session),
    senderIds: new SqlSenderIdStore(session),
    priceVersions: new SqlPriceVersionStore(session),
    whatsapp: new SqlWhatsappStore(session, parsedTrees),
    messages: new SqlMessageStore(session),
    messageSearch: new SqlMessageSearchStore(session, dialect.numberIndex),
    submissions: new SqlSubmissionStore(session),
    campaigns: new SqlCampaignStore(session),
    recipients: new SqlRecipientStore(session),
    sendingSlots: new SqlSendingSlotStore(session),
    conversations: new SqlConversationStore(session),
    reports: new SqlReportStore(session),
    retention: new SqlRetentionStore(session),
    jobs: new SqlJobStore(session),
    jobSurvey: new SqlJobSurveyStore(session),
    deadLetters: new SqlDeadLetterStore(session),
    idempotency: new SqlIdempotencyStore(session),
    webhookEvents: new SqlWebhookEventStore(session),
    webhookAttempts: new SqlWebhookAttemptStore(session),
    webhookLog: new SqlWebhookLogStore(session),
    circuitBreakers: new SqlCircuitBreakerStore(session),
    inboundWebhooks: new SqlInboundWebhookStore(session),
    auditLog: new SqlAuditLogStore(session),
    workers: new SqlWorkerStore(session),
    installation: new SqlInstallationStore(session),
  };
}
