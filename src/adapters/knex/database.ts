import { setTimeout as sleep } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import {
  type DatabaseUnusable,
  databaseEncodingTooSmall,
  databaseNewer,
} from '../../application/errors/database-unusable.ts';
import {
  StorageAway,
  StorageUnavailable,
  StorageUnwritable,
} from '../../application/errors/storage-unavailable.ts';
import type { Connection, Reader } from './driver/connection.ts';
import type { Dialect } from './driver/dialect.ts';
import { migrationNames, migrationsFor } from './migrations/migrations.ts';
import { ParsedTrees } from './parsed-trees.ts';
import { type PostgresConfig, PostgresDialect } from './postgres/postgres-dialect.ts';
import { type SqliteConfig, SqliteDialect } from './sqlite/sqlite-dialect.ts';

/** How long a migration that met a locked table waits between two tries, in milliseconds, and the most tries. */
const MIGRATION_RETRY_MS = 500;
const MIGRATION_ATTEMPTS_MAX = 60;

export type DatabaseConfig = SqliteConfig | PostgresConfig;

/** The part of knex's client that hands out raw connections. */
interface RawPool {
  acquireConnection(): Promise<unknown>;
  releaseConnection(raw: unknown): Promise<void>;
}

/** What a database lacks of the migrations of this version, and what it has beyond them, by name and in their order. */
export interface MigrationStatus {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** A newer version has applied these. */
  readonly unknown: readonly string[];
}

/** One database: knex keeps the pool, migrates and builds cold queries; `Connection` runs every statement. */
export class Database {
  readonly knex: Knex;
  readonly dialect: Dialect;
  readonly parsedTrees = new ParsedTrees();
  #hasConnected = false;
  #closing: Promise<void> | null = null;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
    this.knex = knex({ ...dialect.knexConfig(), log: SILENT });
  }

  /**
   * Runs `work` on a connection of its own; a broken connection does not go back to the pool.
   * Rejects with `StorageAway` when there is none, or when it was lost.
   */
  withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#onConnectionOf(this.knex, work);
  }

  /**
   * Runs `work` where it only reads what is committed: on the reader of the dialect, or on a connection of the pool.
   * Rejects with `StorageUnavailable` when there is none.
   */
  async withReader<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const { readerPool } = this.dialect;
    if (readerPool === null) return this.withConnection(work);
    if (!this.#hasConnected) await this.ping();
    return readerPool.use(work);
  }

  /**
   * Brings the tables to this version. May be repeated, and run by several processes at once: all of it is
   * one transaction, under the migration lock. Rejects with `StorageUnavailable` when there is no database, with
   * `StorageUnwritable` when it stores nothing, and with what `fault` tells.
   */
  async migrate(): Promise<void> {
    // Knex drops the code of an error that it meets at its own lock.
    await this.withConnection((connection) => connection.query(this.dialect.ping, []));
    // Most starts have nothing to migrate, and wait for nobody who does.
    if (await this.#isSeenCurrent()) return;
    const config = this.dialect.migrationConfig();
    const patient = config === null ? this.knex : knex({ ...config, log: SILENT });
    try {
      await this.#migrateOn(patient);
    } catch (error) {
      throw this.unavailable(error) ?? error;
    } finally {
      if (patient !== this.knex) await patient.destroy();
    }
  }

  /** Tries again when a table is locked for long, and lets the service use that table in between. */
  async #migrateOn(patient: Knex): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#transaction(patient, async (transaction) => {
          await this.dialect.acquireMigrationLock(transaction);
          if (await this.#isCurrent(transaction)) return;
          await transaction.migrate.latest({ migrationSource: migrationsFor(this.dialect) });
        });
        return;
      } catch (error) {
        if (this.dialect.lockedPart(error) !== 'row') throw error;
        if (attempt >= MIGRATION_ATTEMPTS_MAX) throw new StorageUnavailable(error);
        await sleep(MIGRATION_RETRY_MS);
      }
    }
  }

  /** Compares the database with this version, and changes nothing. Rejects with `StorageUnavailable` when there is none. */
  async migrationStatus(): Promise<MigrationStatus> {
    return this.#transaction(this.knex, statusOn);
  }

  /**
   * Why this version cannot work on the database, migrated or not: its encoding cannot store every text, or a newer version has
   * migrated it. Null when it can. Rejects with `StorageUnavailable` when there is none.
   */
  async fault(): Promise<DatabaseUnusable | null> {
    return this.#transaction(this.knex, async (transaction) => {
      return this.#faultOf(transaction, await statusOn(transaction));
    });
  }

  /** Whether it shows at once that there is nothing to migrate. Rejects with what `fault` tells. */
  async #isSeenCurrent(): Promise<boolean> {
    try {
      return await this.#transaction(this.knex, (transaction) => this.#isCurrent(transaction));
    } catch (error) {
      // The migration waits longer for a lock.
      if (this.dialect.lockedPart(error) !== null) return false;
      throw this.unavailable(error) ?? error;
    }
  }

  /** Whether there is nothing to migrate. Rejects with what `fault` tells. */
  async #isCurrent(transaction: Knex.Transaction): Promise<boolean> {
    const status = await statusOn(transaction);
    const fault = await this.#faultOf(transaction, status);
    if (fault !== null) throw fault;
    return status.pending.length === 0;
  }

  async #faultOf(
    transaction: Knex.Transaction,
    { unknown }: MigrationStatus,
  ): Promise<DatabaseUnusable | null> {
    const encoding = await this.dialect.encodingTooSmall(transaction);
    if (encoding !== null) return databaseEncodingTooSmall(encoding);
    return unknown.length > 0 ? databaseNewer(unknown) : null;
  }

  /** Rejects with `StorageUnavailable` when there is no database. */
  async ping(): Promise<void> {
    await this.withConnection((connection) => connection.query('SELECT 1', []));
  }

  /**
   * Whether there are tables of any version: not on a database that the service was never started on. Rejects with
   * `StorageUnavailable` when there is no database.
   */
  async hasTables(): Promise<boolean> {
    return this.#transaction(this.knex, ({ schema }) => schema.hasTable('messages'));
  }

  /**
   * What the failure of a statement says of the database: `StorageUnwritable` or `StorageUnavailable`. Null when it says
   * nothing.
   */
  unavailable(error: unknown): StorageUnavailable | null {
    if (error instanceof StorageUnavailable) return error;
    const reason = this.dialect.unwritableReason(error);
    if (reason !== null) return new StorageUnwritable(reason, error);
    return this.dialect.isOutage(error) ? new StorageUnavailable(error) : null;
  }

  /** What the loss of a connection says of the database: `StorageUnwritable` or `StorageAway`. */
  lost(error: unknown): StorageUnavailable {
    const told = this.unavailable(error);
    return told instanceof StorageUnwritable ? told : new StorageAway(error);
  }

  /** Closes every connection once the units of work at hand have ended. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #onConnectionOf<T>(
    { client }: Knex,
    work: (connection: Connection, raw: unknown) => Promise<T>,
  ): Promise<T> {
    const pool: RawPool = client;
    const raw = await pool.acquireConnection().catch((error: unknown) => {
      throw this.lost(error);
    });
    this.#hasConnected = true;
    const connection = this.dialect.connectionOf(raw);
    try {
      return await work(connection, raw);
    } catch (error) {
      throw connection.isUsable() ? error : this.lost(error);
    } finally {
      await pool.releaseConnection(raw);
    }
  }

  /** A transaction of knex. What it rejects with when its connection is lost says nothing: its own ROLLBACK has failed. */
  #transaction<T>(pool: Knex, work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
    return this.#onConnectionOf(pool, (_, raw) => pool.transaction(work, { connection: raw }));
  }

  async #close(): Promise<void> {
    await this.knex.destroy();
    await this.dialect.close();
  }
}

/** A database that is not connected yet: the first use connects, and `migrate` makes it ready. */
export function openDatabase(config: DatabaseConfig): Database {
  return new Database(dialectOf(config));
}

function dialectOf(config: DatabaseConfig): Dialect {
  switch (config.kind) {
    case 'sqlite':
      return new SqliteDialect(config);
    case 'postgres':
      return new PostgresDialect(config);
    default:
      return config satisfies never;
  }
}

async function statusOn(connection: Knex): Promise<MigrationStatus> {
  const names = migrationNames();
  const isStarted = await connection.schema.hasTable(MIGRATIONS_TABLE);
  const applied: readonly string[] = isStarted
    ? await connection(MIGRATIONS_TABLE).orderBy('id').pluck('name')
    : [];
  return {
    applied,
    pending: names.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !names.includes(name)),
  };
}

/** Where knex notes what it has applied. */
const MIGRATIONS_TABLE = 'knex_migrations';

/** Knex prints nothing: its failures reach the caller as rejections. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };
