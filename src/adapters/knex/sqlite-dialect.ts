import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Connection } from './connection.ts';
import type { Dialect, SqliteConfig, TableWords } from './dialect.ts';
import { SqliteConnection } from './sqlite-connection.ts';

const IN_MEMORY = ':memory:';
const BUSY_TIMEOUT_MS = 5_000;
const CACHE_KIB = 64 * 1024;
/** A unit of work waits for the only connection; longer than this and something is stuck. */
const ACQUIRE_TIMEOUT_MS = 30_000;

/** SQLite's own numbers for the pragmas that are read back. */
const SYNCHRONOUS_FULL = 2;
const TEMP_STORE_MEMORY = 2;

/** One connection, in WAL mode and durable at commit; a thread of its own writes the log back to a file. */
export class SqliteDialect implements Dialect {
  readonly tableWords: TableWords = { key: 'text', clustered: 'WITHOUT ROWID' };
  readonly #filename: string;
  readonly #connections = new WeakMap<object, Connection>();
  #checkpoints: CheckpointThread | null = null;

  constructor({ filename }: SqliteConfig) {
    this.#filename = filename;
  }

  knexConfig(): Knex.Config {
    if (this.#isFile()) mkdirSync(dirname(this.#filename), { recursive: true });
    return {
      client: 'better-sqlite3',
      connection: { filename: this.#filename },
      useNullAsDefault: true,
      acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
      pool: {
        min: 1,
        max: 1,
        afterCreate: (raw: Sqlite.Database, done: (error: unknown, raw: Sqlite.Database) => void) => {
          try {
            this.#prepare(raw);
            done(null, raw);
          } catch (error) {
            raw.close();
            done(error, raw);
          }
        },
      },
    };
  }

  connectionOf(raw: unknown): Connection {
    const database = raw as Sqlite.Database;
    let connection = this.#connections.get(database);
    if (connection === undefined) {
      connection = new SqliteConnection(database);
      this.#connections.set(database, connection);
    }
    return connection;
  }

  /** A write before anything is read: it takes the file's write lock, or waits for it. */
  async takeMigrationTurn(transaction: Knex.Transaction): Promise<void> {
    await transaction.raw('PRAGMA user_version = 1');
  }

  isConflict(): boolean {
    return false;
  }

  async close(): Promise<void> {
    const checkpoints = this.#checkpoints;
    this.#checkpoints = null;
    await checkpoints?.stop();
  }

  #isFile(): boolean {
    return this.#filename !== IN_MEMORY;
  }

  #prepare(raw: Sqlite.Database): void {
    const pragmas: Readonly<Record<string, string | number>> = {
      busy_timeout: BUSY_TIMEOUT_MS,
      journal_mode: this.#isFile() ? 'wal' : 'memory',
      synchronous: SYNCHRONOUS_FULL,
      foreign_keys: 1,
      cache_size: -CACHE_KIB,
      temp_store: TEMP_STORE_MEMORY,
      ...(this.#isFile() ? { wal_autocheckpoint: 0 } : {}),
    };
    for (const [name, value] of Object.entries(pragmas)) raw.pragma(`${name} = ${value}`);
    for (const [name, value] of Object.entries(pragmas)) {
      // A file that is in WAL mode already opens with a weaker setting than a new one: only reading back tells.
      const actual = raw.pragma(name, { simple: true });
      if (actual !== value) throw new Error(`SQLite kept ${name} at ${actual} instead of ${value}`);
    }
    if (this.#isFile()) this.#checkpoints ??= new CheckpointThread(this.#filename);
  }
}

/** The thread that moves committed pages from the log into the file, so that no request waits for it. */
class CheckpointThread {
  readonly #worker: Worker;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #ended: Promise<void>;

  constructor(filename: string) {
    this.#worker = new Worker(new URL('./checkpoint-thread.mjs', import.meta.url), {
      workerData: { filename, stop: this.#stop },
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', () => resolve());
      this.#worker.once('error', () => resolve());
    });
    this.#worker.unref();
  }

  async stop(): Promise<void> {
    this.#worker.ref();
    Atomics.store(this.#stop, 0, 1);
    Atomics.notify(this.#stop, 0);
    await this.#ended;
  }
}
