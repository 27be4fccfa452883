import type { Knex } from 'knex';
import type { Durability } from '../../../application/ports/unit-of-work.ts';
import type { Connection, Reader } from './connection.ts';

/** The words of table definitions in which the databases differ. Released migrations run them: none is ever changed. */
export interface DdlVariants {
  /** Text compared byte by byte, as every key and sorted column is. */
  readonly key: string;
  /** Ends a table whose rows lie in the order of the primary key. */
  readonly clustered: string;
  /** What makes the sends to a number findable, as the relation `recent_sends` with an index by number. */
  readonly recentSends: readonly string[];
  /** Takes the messages of campaigns out of `recent_sends`. */
  readonly singleSends: readonly string[];
  /** What makes all messages to a number findable, where no index of messages does. */
  readonly messagesByNumber: readonly string[];
  /**
   * Makes the triggers that give a tree of whatsapp resources another version whenever it is written, and gives one to each tree
   * that exists when the migration runs.
   */
  readonly versionsOfTrees: readonly string[];
  /**
   * Makes the triggers that write the numbers in a tree of whatsapp resources whenever it is written, and writes those of each
   * tree that exists when the migration runs.
   */
  readonly numbersOfTrees: readonly string[];
  /** Whether others may write while a migration runs, so that it has to lock the tables it rewrites. */
  readonly needsTableLocks: boolean;
  /** Leaves part of the pages of a table to changed rows; nothing where a row is changed in its place. */
  readonly fillPages: (table: string, percent: number) => readonly string[];
}

/** A pool of its own for reads that need no transaction. */
export interface ReaderPool {
  /** Rejects with `StorageUnavailable` when the reader was lost. `Database` connects first: that makes the file and its log. */
  use<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
}

/** Every difference between the databases outside of statements. */
export interface Dialect {
  readonly ddlVariants: DdlVariants;
  knexConfig(): Knex.Config;
  /** For migrations, where nothing may run out of time; null where they take the one connection there is. */
  migrationConfig(): Knex.Config | null;
  /** The connection around a raw one of the pool, always the same for the same. */
  connectionOf(raw: unknown): Connection;
  /** Null when reads run on the connections of the pool. */
  readonly readerPool: ReaderPool | null;
  /** Waits until this transaction is the only one that migrates. Other locks it waits for only briefly from then on. */
  acquireMigrationLock(transaction: Knex.Transaction): Promise<void>;
  /** The encoding of the database when it cannot store every text; null when it can. */
  encodingTooSmall(transaction: Knex.Transaction): Promise<string | null>;
  /**
   * What another transaction has the lock of, when one failed with this because of that; null otherwise. `all`: nobody else
   * writes. The database waits for a lock briefly, or not at all.
   */
  lockedPart(error: unknown): 'row' | 'all' | null;
  /** How messages to a number are found: by an index that begins with the project, or in blocks of messages. */
  readonly numberIndex: 'project' | 'blocks';
  /** How long a unit of work waits for such a lock in all, in milliseconds. */
  readonly lockWaitMs: number;
  /**
   * `full`: resolves when all that is committed by now survives the crash of the machine. `eventual`: when the units of full
   * durability do that wait for it now. Null when there is nothing to wait for. Rejects when the disk failed.
   */
  untilDurable(durability: Durability): Promise<void> | null;
  /** A statement that fails on a database that is read-only, where the database can tell without a write. */
  readonly ping: string;
  /** Why the database stores nothing, when a statement failed with this because of that; null otherwise. */
  unwritableReason(error: unknown): string | null;
  /**
   * Whether a statement failed with this though nothing was wrong with it: others may fail alike, and the same may succeed
   * later.
   */
  isOutage(error: unknown): boolean;
  /** Whether a transaction that failed with this may succeed when it is repeated. */
  isConflict(error: unknown): boolean;
  /** Ends what runs beside the pool; called after the pool is closed. */
  close(): Promise<void>;
}
