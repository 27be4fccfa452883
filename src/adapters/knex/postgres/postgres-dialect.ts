import type { Knex } from 'knex';
import type pg from 'pg';
import { LONG_LOCK_WAIT_MS } from '../../../application/ports/unit-of-work.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
import type { Connection } from '../driver/connection.ts';
import type { Dialect } from '../driver/dialect.ts';
import { PostgresConnection, READ_ONLY, sqlStateOf } from './postgres-connection.ts';
import { POSTGRES_DDL } from './postgres-ddl.ts';

export interface PostgresConfig {
  readonly kind: 'postgres';
  readonly url: string;
  /** Where the tables are; made when it is missing. The server's default without one. */
  readonly schema?: string;
  readonly poolSize: number;
  /** Null for statements that take as long as they need. */
  readonly statementTimeoutMs: number | null;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A unit of work waits for a connection; longer than this and the service is overloaded. */
const ACQUIRE_TIMEOUT_MS = 10_000;
/** A silent server is given up this long after it should have stopped the statement itself. */
const SILENCE_MS = 1_000;
/** A process that stopped within a transaction loses its locks after this time: others wait for less than 5 s. */
const IDLE_IN_TRANSACTION_MS = 4_000;
/**
 * A transaction that waits longer for a lock rolls back, in milliseconds: longer than a commit takes, unless the disk stalls. A
 * statement may take twice as long at least: one that ends by its own time says nothing of a lock, and counts as an outage.
 */
export const LOCK_TIMEOUT_MS = 250;

/** The longest that the service waits behind a migration which waits for the lock of a table. */
const MIGRATION_LOCK_TIMEOUT_MS = 1_000;

/** The type of 64-bit integers, which node-postgres otherwise gives as text. */
const BIGINT_OID = 20;

const LOCK_NOT_AVAILABLE = '55P03';
const CONFLICTS: ReadonlySet<string> = new Set(['40001' /* serialization failure */, '40P01' /* deadlock */]);

/** These store every text: `SQL_ASCII` takes all bytes as they come. */
const WHOLE_ENCODINGS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII']);

/** Separates our advisory locks from anyone else's. */
const MIGRATION_LOCK = 0x6261_7269;

const UNWRITABLE: Readonly<Record<string, string>> = {
  '53100': 'the disk is full',
  [READ_ONLY]: 'it is read-only',
};

/**
 * A lost connection (08), a right that was taken away (42501), a lack of memory, connections or other resources (53), a
 * statement that was stopped (57), an error of the system (58000, 58030). Damaged rows are not among them: they must not hold up
 * the others of their batch. PostgreSQL finds the damage with XX001 and XX002, with XX000 where the length of a value is wrong,
 * and with 58P01 where the number of a transaction is.
 */
const OUTAGE = /^(08...|42501|53...|57...|58000|58030)$/;

/**
 * Fails as a write would. A standby is read-only, and so is a database whose host has set it so, as some do when the disk is
 * full.
 */
const PING = `
  DO $$ BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
      RAISE EXCEPTION 'the database is read-only' USING ERRCODE = '${READ_ONLY}';
    END IF;
  END $$`;

/**
 * The settings of every connection. The planner has to use indexes: by the statistics of a table that was empty a
 * moment ago it would read all of a table that is full by now. Durable means on disk before COMMIT returns.
 */
const SETTINGS = {
  synchronous_commit: 'on',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  timezone: 'UTC',
  // Bodies of functions are literals with backslashes.
  standard_conforming_strings: 'on',
  // Under another default DISCARD PLANS takes a snapshot, and the BEGIN behind it may choose no isolation level any more.
  default_transaction_isolation: 'read committed',
} as const;

export class PostgresDialect implements Dialect {
  readonly ddlVariants = POSTGRES_DDL;
  readonly lockWaitMs = LONG_LOCK_WAIT_MS;
  readonly ping = PING;
  readonly readerPool = null;
  readonly numberIndex = 'project';
  readonly #config: PostgresConfig;
  readonly #connections = new WeakMap<object, Connection>();

  constructor(config: PostgresConfig) {
    this.#config = config;
  }

  knexConfig(): Knex.Config {
    const { poolSize, statementTimeoutMs } = this.#config;
    return this.#configWith(
      poolSize,
      statementTimeoutMs === null ? {} : { query_timeout: statementTimeoutMs + SILENCE_MS },
      {
        statement_timeout: `${statementTimeoutMs ?? 0}ms`,
        lock_timeout: `${LOCK_TIMEOUT_MS}ms`,
        idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS}ms`,
      },
    );
  }

  /**
   * A migration may have to wait for another process's, and building an index takes its time: only locks are limited. A role or
   * a database may have limits of its own for statements.
   */
  migrationConfig(): Knex.Config {
    return this.#configWith(1, {}, { statement_timeout: '0', idle_in_transaction_session_timeout: '0' });
  }

  #configWith(
    poolSize: number,
    client: { readonly query_timeout?: number },
    timeouts: Readonly<Record<string, string>>,
  ): Knex.Config {
    const { url, schema } = this.#config;
    const connection = {
      connectionString: url,
      application_name: 'barid',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      pipeline: true,
      ...client,
    };
    return {
      client: 'pg',
      connection,
      ...(schema === undefined ? {} : { searchPath: schema }),
      acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
      pool: {
        min: 0,
        max: poolSize,
        afterCreate: (client: pg.Client, done: (error: unknown, client: pg.Client) => void) => {
          this.#prepare(client, timeouts).then(
            () => done(null, client),
            (error: unknown) => {
              client.end().catch(() => {});
              done(error, client);
            },
          );
        },
        validate: (client: pg.Client) => this.connectionOf(client).isUsable(),
      },
    };
  }

  connectionOf(raw: unknown): Connection {
    const client = raw as pg.Client;
    let connection = this.#connections.get(client);
    if (connection === undefined) {
      connection = new PostgresConnection(client);
      this.#connections.set(client, connection);
    }
    return connection;
  }

  async acquireMigrationLock(transaction: Knex.Transaction): Promise<void> {
    const schema = this.#config.schema ?? '';
    await transaction.raw('SET LOCAL lock_timeout = 0');
    await transaction.raw('SELECT pg_advisory_xact_lock(?, hashtext(?))', [MIGRATION_LOCK, schema]);
    // Statements of the service queue behind a migration that waits for a table: it gives up soon, and tries again.
    await transaction.raw(`SET LOCAL lock_timeout = '${MIGRATION_LOCK_TIMEOUT_MS}ms'`);
    if (schema !== '') await transaction.raw('CREATE SCHEMA IF NOT EXISTS ??', [schema]);
  }

  async encodingTooSmall(transaction: Knex.Transaction): Promise<string | null> {
    const { rows } = await transaction.raw('SHOW server_encoding');
    const encoding: string = rows[0].server_encoding;
    return WHOLE_ENCODINGS.has(encoding) ? null : encoding;
  }

  lockedPart(error: unknown): 'row' | null {
    return sqlStateOf(error) === LOCK_NOT_AVAILABLE ? 'row' : null;
  }

  isConflict(error: unknown): boolean {
    const code = sqlStateOf(error);
    return code !== null && CONFLICTS.has(code);
  }

  /** A commit that has to be durable resolves when it is. */
  untilDurable(): null {
    return null;
  }

  unwritableReason(error: unknown): string | null {
    return UNWRITABLE[sqlStateOf(error) ?? ''] ?? null;
  }

  isOutage(error: unknown): boolean {
    return OUTAGE.test(sqlStateOf(error) ?? '');
  }

  async close(): Promise<void> {}

  async #prepare(client: pg.Client, timeouts: Readonly<Record<string, string>>): Promise<void> {
    // It must not throw: the client takes that for a lost connection. Amounts are checked by who reads them.
    client.setTypeParser(BIGINT_OID, Number);
    const settings = { ...SETTINGS, ...timeouts };
    await client.query(
      Object.entries(settings)
        .map(([name, value]) => `SET ${name} = '${value}'`)
        .join('; '),
    );
    const { rows } = await client.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
    const actual = rows[0]?.synchronous_commit;
    invariant(actual === SETTINGS.synchronous_commit, `synchronous_commit is on, not ${actual}`);
  }
}
