import type Sqlite from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Durability } from '../../../application/ports/unit-of-work.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
import type { Connection } from '../driver/connection.ts';
import type { Dialect } from '../driver/dialect.ts';
import { IN_MEMORY, makeSqliteFile } from './file/sqlite-file.ts';
import { SqliteConnection, type WalParts } from './sqlite-connection.ts';
import { SQLITE_DDL } from './sqlite-ddl.ts';
import {
  applyPragmas,
  BUSY_TIMEOUT_MS,
  diskProblem,
  isBusy,
  isSqliteOutage,
  OPEN_TIMEOUT_MS,
} from './sqlite-pragmas.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteReaderPool } from './sqlite-reader-pool.ts';
import { Checkpointer } from './wal/checkpointer.ts';
import { type SyncFile, WalSync } from './wal/wal-sync.ts';

export interface SqliteConfig {
  readonly kind: 'sqlite';
  /** `:memory:` or a path; missing folders are made. */
  readonly filename: string;
  /** What a database in memory begins with, as SQLite writes it to a file; it is empty without. */
  readonly image?: Buffer;
  /** How long the log of a file may keep what was masked since; for tests, which do not wait 20 s. */
  readonly truncateIntervalMs?: number;
  /** How long a unit of work waits for one of another process; for tests, which do not wait 5 s. */
  readonly lockWaitMs?: number;
  /** Instead of the system's own; for tests, whose disk is slow or broken. */
  readonly syncFile?: SyncFile;
  /** Told of each failure of the thread that empties the log; another one starts a second later. */
  readonly onCheckpointerFailed?: (error: unknown) => void;
}

/** How long a unit of work waits for the only connection; longer than this and something is stuck. */
const ACQUIRE_TIMEOUT_MS = 30_000;
/** Masked codes have to leave the log within 60 s: a truncation that a reader prevents is tried again meanwhile. */
const TRUNCATE_INTERVAL_MS = 20_000;
/** How long a unit of work waits for one of another process before it is rejected. */
const LOCK_WAIT_MS = 5_000;

/** One connection that writes, durable at commit. Files are in WAL mode; one thread writes their log back, and one reads. */
export class SqliteDialect implements Dialect {
  readonly ddlVariants = SQLITE_DDL;
  readonly numberIndex = 'blocks';
  /** Each heartbeat writes, and finds out what this statement does not. */
  readonly ping = 'SELECT 1';
  readonly lockWaitMs: number;
  readonly readerPool: SqliteReaderPool | null;
  readonly #filename: string;
  readonly #image: Buffer | undefined;
  readonly #onCheckpointerFailed: (error: unknown) => void;
  readonly #truncateIntervalMs: number;
  readonly #syncFile: SyncFile | undefined;
  readonly #connections = new WeakMap<object, Connection>();
  #log: WalParts | null = null;

  constructor({
    filename,
    image,
    truncateIntervalMs = TRUNCATE_INTERVAL_MS,
    lockWaitMs = LOCK_WAIT_MS,
    syncFile,
    onCheckpointerFailed = () => {},
  }: SqliteConfig) {
    this.#onCheckpointerFailed = onCheckpointerFailed;
    this.#syncFile = syncFile;
    this.#filename = filename;
    this.readerPool = this.#isFile() ? new SqliteReaderPool(() => this.#startReader()) : null;
    this.#image = image;
    this.#truncateIntervalMs = truncateIntervalMs;
    this.lockWaitMs = lockWaitMs;
  }

  knexConfig(): Knex.Config {
    if (this.#isFile()) makeSqliteFile(this.#filename);
    return {
      client: 'better-sqlite3',
      // The driver opens the content of a buffer in memory, though the types of knex know names alone.
      connection: { filename: (this.#image ?? this.#filename) as string },
      useNullAsDefault: true,
      acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
      pool: {
        min: 1,
        max: 1,
        afterCreate: (raw: Sqlite.Database, done: (error: unknown, raw: Sqlite.Database) => void) => {
          try {
            applyPragmas(raw, this.#isFile());
            if (this.#isFile()) this.#log ??= this.#startLog();
            done(null, raw);
          } catch (error) {
            raw.close();
            done(error, raw);
          }
        },
      },
    };
  }

  migrationConfig(): null {
    return null;
  }

  connectionOf(raw: unknown): Connection {
    const database = raw as Sqlite.Database;
    let connection = this.#connections.get(database);
    if (connection === undefined) {
      connection = new SqliteConnection(database, this.#log);
      this.#connections.set(database, connection);
    }
    return connection;
  }

  /** A write before anything is read: it takes the file's write lock, or waits for it. */
  async acquireMigrationLock(transaction: Knex.Transaction): Promise<void> {
    await transaction.raw(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
    try {
      await transaction.raw('PRAGMA user_version = 1');
    } finally {
      await transaction.raw(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  /** A file is in UTF-8 or UTF-16. */
  async encodingTooSmall(): Promise<null> {
    return null;
  }

  /** A transaction holds the only write lock from its beginning: there are no conflicts. */
  isConflict(): boolean {
    return false;
  }

  lockedPart(error: unknown): 'all' | null {
    return isBusy(error) ? 'all' : null;
  }

  unwritableReason(error: unknown): string | null {
    return diskProblem(error);
  }

  isOutage(error: unknown): boolean {
    return isSqliteOutage(error);
  }

  untilDurable(durability: Durability): Promise<void> | null {
    if (this.#log === null) return null;
    const { walSync } = this.#log;
    return durability === 'full' ? walSync.sync() : walSync.settled();
  }

  async close(): Promise<void> {
    await this.readerPool?.close();
    const log = this.#log;
    this.#log = null;
    await log?.walSync.close();
    await log?.checkpointer.stop();
  }

  #startReader(): SqliteReader {
    invariant(this.#log !== null, 'a connection has made the log');
    return new SqliteReader(this.#filename, this.#log.checkpointer.shared);
  }

  #startLog(): WalParts {
    return {
      checkpointer: new Checkpointer({
        filename: this.#filename,
        truncateIntervalMs: this.#truncateIntervalMs,
        onFailed: this.#onCheckpointerFailed,
      }),
      walSync: new WalSync(this.#filename, this.#syncFile),
    };
  }

  #isFile(): boolean {
    return this.#filename !== IN_MEMORY;
  }
}
