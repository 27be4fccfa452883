import { performance } from 'node:perf_hooks';
import type Sqlite from 'better-sqlite3';
import { nextRound } from '../../../application/concurrency/next-round.ts';
import { RoundTime } from '../../../application/concurrency/round-time.ts';
import type { AcceptedAtQuery } from '../../../application/ports/stores/message-store.ts';
import type {
  BatchQuery,
  Connection,
  Insert,
  Parameter,
  Removal,
  Row,
  RowOf,
  Update,
  Value,
  VersionedUpdate,
} from '../driver/connection.ts';
import { rowReader, rowsWriter, rowWriter } from './row-codec.ts';
import { SqliteNumberBlocks } from './sqlite-number-blocks.ts';
import { SqliteRecentSends } from './sqlite-recent-sends.ts';
import { batchText, inSqlite, toValue } from './sqlite-text.ts';
import type { Checkpointer } from './wal/checkpointer.ts';
import type { WalSync } from './wal/wal-sync.ts';

/** Gives rows as lists, which `readRow` makes into objects: together half of what the driver takes for that. */
interface Prepared {
  readonly statement: Sqlite.Statement<Value[], Value[]>;
  columns: number;
  readRow: (values: readonly Value[]) => Row;
}

interface Bulk {
  readonly prepared: Prepared;
  /** In the order of the statement's parameters. */
  readonly valuesOf: (row: Row) => Value[];
}

/** Inserts one row after the other, or `ROWS_PER_INSERT` together. */
interface BulkInsert {
  readonly one: RowsInsert;
  readonly many: RowsInsert;
}

interface RowsInsert {
  readonly prepared: Prepared;
  readonly valuesOf: ReturnType<typeof rowsWriter>;
}

/** Rows of one INSERT: that takes a third to a half less than an INSERT for each, and with more rows no less. */
const ROWS_PER_INSERT = 8;

/** How long transactions begin in one round of the event loop, in milliseconds. The next one begins in a later round. */
const TRANSACTIONS_MS_MAX = 3;

/** The table that recent sends follow, and the table of the rate windows. */
const SENDS = 'messages';
const WINDOWS = 'projects';

const NO_ROWS = { columns: 0, readRow: rowReader([]) };

/** What goes on beside the connection to a file. */
export interface WalParts {
  readonly checkpointer: Checkpointer;
  readonly walSync: WalSync;
}

/** Prepared statements on better-sqlite3. Bulk statements are loops: without a network nothing is faster. */
export class SqliteConnection implements Connection {
  readonly #database: Sqlite.Database;
  /** Null in memory, where there is no write-ahead log. */
  readonly #wal: WalParts | null;
  readonly #statements = new Map<string, Prepared>();
  readonly #bulks = new WeakMap<object, Bulk>();
  readonly #inserts = new WeakMap<object, BulkInsert>();
  readonly #version: Sqlite.Statement<[], number>;
  readonly #recentSends = new SqliteRecentSends();
  readonly #numberBlocks: SqliteNumberBlocks;
  readonly #roundTime = new RoundTime(
    () => TRANSACTIONS_MS_MAX,
    () => performance.now(),
  );
  /** What the open transaction inserted. */
  #sends: Row[] = [];
  /** The open transaction changed projects. */
  #hasChangedWindows = false;

  constructor(database: Sqlite.Database, wal: WalParts | null) {
    this.#database = database;
    this.#wal = wal;
    this.#version = database.prepare<[], number>('PRAGMA data_version').pluck();
    this.#numberBlocks = new SqliteNumberBlocks(database);
  }

  /** Takes the write lock at once, or fails: what a transaction reads is not outdated when it writes. */
  async begin(): Promise<void> {
    // Those that wait for the only connection would follow each other in one round, and requests would wait for all of them.
    while (!this.#roundTime.isLeft()) await nextRound();
    this.#run('BEGIN IMMEDIATE');
    this.#wal?.walSync.prepare();
    this.#sends = [];
    this.#hasChangedWindows = false;
    // Before any statement of the unit of work, while nobody else can write.
    await this.#recentSends.follow(this.#version.get() ?? 0, (sql, parameters) =>
      this.#queryNextRound(sql, parameters),
    );
  }

  async commit(): Promise<void> {
    this.#run('COMMIT');
    this.#recentSends.add(this.#sends);
    if (this.#hasChangedWindows) this.#recentSends.noteWindows();
  }

  /** Some errors (a full disk) have already ended the transaction. */
  async rollback(): Promise<void> {
    if (this.isInTransaction()) this.#run('ROLLBACK');
    this.#numberBlocks.undo();
  }

  isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  isUsable(): boolean {
    return this.#database.open && !this.isInTransaction();
  }

  async query(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return rowsOf(this.#prepare(sql), parameters.map(toValue));
  }

  async queryOnce(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    const statement = this.#database.prepare<Value[], Value[]>(sql).raw(true);
    return rowsOf({ statement, ...readerOf(statement) }, values);
  }

  async execute(sql: string, parameters: readonly Parameter[]): Promise<number> {
    return this.#run(sql, parameters.map(toValue)).changes;
  }

  async insert<Name extends string>(insert: Insert<Name>, rows: readonly RowOf<Name>[]): Promise<void> {
    let bulk = this.#inserts.get(insert);
    if (bulk === undefined) {
      const names = Object.keys(insert.columns);
      const inserting = (count: number): RowsInsert => ({
        prepared: this.#prepare(insertText(insert, names, count)),
        valuesOf: rowsWriter(names, count),
      });
      bulk = { one: inserting(1), many: inserting(ROWS_PER_INSERT) };
      this.#inserts.set(insert, bulk);
    }
    this.#noteChange(insert.table);
    const { one, many } = bulk;
    let from = 0;
    for (; from + ROWS_PER_INSERT <= rows.length; from += ROWS_PER_INSERT) {
      many.prepared.statement.run(...many.valuesOf(rows, from));
    }
    for (; from < rows.length; from += 1) one.prepared.statement.run(...one.valuesOf(rows, from));
    if (insert.table !== SENDS) return;
    for (const row of rows as readonly Row[]) if (row.campaign_id === null) this.#sends.push(row);
    this.#numberBlocks.noteInserted(rows.length);
  }

  async update<Key extends string, Changed extends string>(
    update: Update<Key, Changed>,
    rows: readonly RowOf<Key | Changed>[],
  ): Promise<void> {
    const bulk = this.#bulk(update, () => {
      const key = Object.keys(update.key);
      const changed = Object.keys(update.columns);
      const changes = changed.map((name) =>
        update.mode === 'add' ? `${name} = ${name} + ?` : `${name} = ?`,
      );
      const sql = `UPDATE ${update.table} SET ${changes.join(', ')} WHERE ${equalities(key)}`;
      return { sql, names: [...changed, ...key] };
    });
    this.#noteChange(update.table);
    for (const row of rows) runBulk(bulk, row);
  }

  async updateVersioned<Key extends string, Changed extends string>(
    update: VersionedUpdate<Key, Changed>,
    rows: readonly RowOf<Key | Changed>[],
  ): Promise<readonly boolean[]> {
    const bulk = this.#bulk(update, () => {
      const { table, version } = update;
      const key = Object.keys(update.key);
      const changed = Object.keys(update.columns);
      const changes = [...changed.map((name) => `${name} = ?`), `${version} = ${version} + 1`];
      const sql = `UPDATE ${table} SET ${changes.join(', ')} WHERE ${equalities(key)}`;
      return { sql, names: [...changed, ...key] };
    });
    this.#noteChange(update.table);
    return rows.map((row) => runBulk(bulk, row).changes > 0);
  }

  async remove<Key extends string>(
    removal: Removal<Key>,
    rows: readonly RowOf<Key>[],
  ): Promise<readonly boolean[]> {
    const bulk = this.#bulk(removal, () => {
      const names = Object.keys(removal.key);
      return { sql: `DELETE FROM ${removal.table} WHERE ${equalities(names)}`, names };
    });
    return rows.map((row) => runBulk(bulk, row).changes > 0);
  }

  async batchQuery<Name extends string>(
    batch: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]> {
    const bulk = this.#bulk(batch, () => batchText(batch));
    return keys.map((key) => rowsOf(bulk.prepared, bulk.valuesOf(key)));
  }

  async acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]> {
    return queries.map((query) => this.#recentSends.acceptedAt(query, this.#sends));
  }

  /** Many pages may have to be read. */
  async #queryNextRound(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    await nextRound();
    return this.query(sql, parameters);
  }

  #noteChange(table: string): void {
    if (table === WINDOWS) this.#hasChangedWindows = true;
  }

  #bulk(key: object, text: () => { readonly sql: string; readonly names: readonly string[] }): Bulk {
    let bulk = this.#bulks.get(key);
    if (bulk === undefined) {
      const { sql, names } = text();
      bulk = { prepared: this.#prepare(sql), valuesOf: rowWriter(names) };
      this.#bulks.set(key, bulk);
    }
    return bulk;
  }

  #run(sql: string, values: readonly Value[] = []): Sqlite.RunResult {
    return this.#prepare(sql).statement.run(...values);
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      const statement = this.#database.prepare<Value[], Value[]>(inSqlite(sql));
      prepared = { statement, ...(statement.reader ? readerOf(statement.raw(true)) : NO_ROWS) };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }
}

/** What a failed INSERT has written is undone with its transaction: FAIL spares a copy of each page that it changes. */
function insertText(
  { table, onConflict = '' }: Insert<string>,
  names: readonly string[],
  rows: number,
): string {
  const row = `(${names.map(() => '?').join(', ')})`;
  const values = Array.from({ length: rows }, () => row).join(', ');
  return `INSERT OR FAIL INTO ${table} (${names.join(', ')}) VALUES ${values} ${onConflict}`;
}

function equalities(names: readonly string[]): string {
  return names.map((name) => `${name} = ?`).join(' AND ');
}

function runBulk(bulk: Bulk, row: Row): Sqlite.RunResult {
  return bulk.prepared.statement.run(...bulk.valuesOf(row));
}

function readerOf(statement: Prepared['statement']): Pick<Prepared, 'columns' | 'readRow'> {
  const names = statement.columns().map(({ name }) => name);
  return { columns: names.length, readRow: rowReader(names) };
}

/** A newer version of the program may add columns meanwhile, which changes the meaning of `*`. */
function rowsOf(prepared: Prepared, values: readonly Value[]): Row[] {
  const rows = prepared.statement.all(...values);
  if (rows[0] !== undefined && rows[0].length !== prepared.columns) {
    Object.assign(prepared, readerOf(prepared.statement));
  }
  return rows.map(prepared.readRow);
}
