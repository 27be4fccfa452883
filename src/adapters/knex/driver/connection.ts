import type { AcceptedAtQuery } from '../../../application/ports/stores/message-store.ts';
import type { Durability } from '../../../application/ports/unit-of-work.ts';

/** The value of a column or a parameter. Instants and money are whole numbers. */
export type Value = string | number | null;
/** A list is one parameter, so a statement has the same text for any number of things. */
export type Parameter = Value | readonly string[];
export type Row = Readonly<Record<string, Value>>;

/** The columns a bulk statement takes, each with its type on PostgreSQL. */
export type Columns<Name extends string> = Readonly<Record<Name, 'text' | 'bigint'>>;
export type RowOf<Name extends string> = Readonly<Record<Name, Value>>;

/**
 * The names of columns, as a statement lists them. A prepared statement reads no `*` of a table: PostgreSQL rejects it on every
 * connection that has prepared it, once a newer version of the program has added a column.
 */
export function columnNames(columns: Columns<string>): string {
  return Object.keys(columns).join(', ');
}

/*
 * Bulk statements are written once, as constants. A connection derives their text from them and keeps it
 * under the constant's identity, so they must not be built per call.
 */

export interface Insert<Name extends string> {
  readonly table: string;
  readonly columns: Columns<Name>;
  /** Columns by which the rows are put in order before they are written, so that locks are taken in order. */
  readonly orderBy: NoInfer<Name> | readonly NoInfer<Name>[];
  /** A whole ON CONFLICT clause; without one a row that exists is an error. */
  readonly onConflict?: string;
}

/** Changes the rows with the given keys, in the order of the first key; a key that does not exist is skipped. */
export interface Update<Key extends string, Changed extends string> {
  readonly table: string;
  readonly key: Columns<Key>;
  readonly columns: Columns<Changed>;
  /** Whether the columns take the given values or grow by them. */
  readonly mode: 'set' | 'add';
}

/** Changes the rows that have all the given values of the key, in its order, and adds one to their version. */
export interface VersionedUpdate<Key extends string, Changed extends string> {
  readonly table: string;
  /** With the version a row was read with. */
  readonly key: Columns<Key>;
  readonly version: NoInfer<Key>;
  readonly columns: Columns<Changed>;
}

/** Removes the rows that have all the given values, in the order of the first one. */
export interface Removal<Key extends string> {
  readonly table: string;
  readonly key: Columns<Key>;
}

/** One SELECT that runs for each row of keys; its text names them as `:name`. */
export interface BatchQuery<Name extends string> {
  readonly columns: Columns<Name>;
  readonly select: string;
}

/**
 * Reads either database. SQL is written for PostgreSQL, with `?` for parameters, `= ANY(?)` for lists and FOR UPDATE or FOR
 * SHARE for locks; each dialect translates it.
 */
export interface Reader {
  query(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]>;
  /**
   * Runs a SELECT in the database's own words, as a query builder makes it. It is not prepared: prepared statements are
   * kept as long as the connection, and the text of a built query may be new each time.
   */
  queryOnce(sql: string, values: readonly Value[]): Promise<readonly Row[]>;
  /** The rows of each key, in the order of the keys. */
  batchQuery<Name extends string>(
    statement: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]>;
}

/**
 * One connection of either database. Statements take effect in the order of the calls, also without waiting in between. `begin`,
 * `insert` and `update` may resolve before the database has responded: when one of them fails later, every statement after it
 * and the commit fail too. Insert and update are for transactions only.
 */
export interface Connection extends Reader {
  begin(durability: Durability): Promise<void>;
  /** Rejects with what failed first. `Dialect.untilDurable` tells when what was committed is durable. */
  commit(): Promise<void>;
  /** Never rejects: a connection that cannot roll back is not usable any more. */
  rollback(): Promise<void>;
  /** Whether a transaction is open. A full or broken disk ends one of SQLite at the statement that failed. */
  isInTransaction(): boolean;
  /** Whether the pool may hand it out again. */
  isUsable(): boolean;

  /** The number of rows that were changed. */
  execute(sql: string, parameters: readonly Parameter[]): Promise<number>;
  insert<Name extends string>(statement: Insert<Name>, rows: readonly RowOf<Name>[]): Promise<void>;
  update<Key extends string, Changed extends string>(
    statement: Update<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<void>;
  /** For each row of values whether it was there under its version and was changed. */
  updateVersioned<Key extends string, Changed extends string>(
    statement: VersionedUpdate<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<readonly boolean[]>;
  /** For each row of values whether it was there and was removed; of equal ones only the first. */
  remove<Key extends string>(
    statement: Removal<Key>,
    rows: readonly RowOf<Key>[],
  ): Promise<readonly boolean[]>;
  /** As `MessageStore.acceptedAt`: SQLite finds them in memory, PostgreSQL by an index. */
  acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]>;
}
