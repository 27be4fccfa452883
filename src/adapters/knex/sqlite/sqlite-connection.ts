import type Sqlite from 'better-sqlite3';
import type { AcceptedAtQuery } from '../../../application/ports/message-store.ts';
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
import type { Checkpointer } from './checkpointer.ts';
import type { LogSync } from './log-sync.ts';
import { rowReader, rowWriter } from './row-codec.ts';
import { SqliteNumberBlocks } from './sqlite-number-blocks.ts';
import { SqliteRecentSends } from './sqlite-recent-sends.ts';
import { TurnBudget } from './turn-budget.ts';

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

interface BulkInsert {
  readonly one: Prepared;
  /** Takes the values of `ROWS_PER_INSERT` rows. */
  readonly many: Prepared;
  readonly valuesOf: (row: Row) => Value[];
}

/** Rows of one INSERT: that takes a third to a half less than an INSERT for each, and with more rows no less. */
const ROWS_PER_INSERT = 8;

const NO_ROWS = { columns: 0, readRow: rowReader([]) };

/** What goes on beside the connection to a file. */
export interface LogParts {
  readonly checkpointer: Checkpointer;
  readonly logSync: LogSync;
}

/** Prepared statements on better-sqlite3. Bulk statements are loops: without a network nothing is faster. */
export class SqliteConnection implements Connection {
  readonly #database: Sqlite.Database;
  /** Null in memory, where there is no log. */
  readonly #log: LogParts | null;
  readonly #statements = new Map<string, Prepared>();
  readonly #bulks = new WeakMap<object, Bulk>();
  readonly #inserts = new WeakMap<object, BulkInsert>();
  readonly #recentSends: SqliteRecentSends;
  readonly #numberBlocks: SqliteNumberBlocks;
  readonly #turnBudget = new TurnBudget();

  constructor(database: Sqlite.Database, log: LogParts | null) {
    this.#database = database;
    this.#log = log;
    this.#recentSends = new SqliteRecentSends(database);
    this.#numberBlocks = new SqliteNumberBlocks(database);
  }

  /** Takes the write lock at once, or fails: what a transaction reads is not outdated when it writes. */
  async begin(): Promise<void> {
    await this.#turnBudget.begin();
    this.#run('BEGIN IMMEDIATE');
    this.#log?.logSync.prepare();
    this.#recentSends.follow();
  }

  async commit(): Promise<void> {
    this.#run('COMMIT');
    this.#recentSends.keep();
    this.#log?.checkpointer.truncateIfDue(this.#database);
  }

  /** Some errors (a full disk) have already ended the transaction. */
  async rollback(): Promise<void> {
    if (this.#database.inTransaction) this.#run('ROLLBACK');
    this.#recentSends.undo();
    this.#numberBlocks.undo();
  }

  isUsable(): boolean {
    return this.#database.open && !this.#database.inTransaction;
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
      const prepare = (count: number) => this.#prepare(insertText(insert, names, count));
      bulk = { one: prepare(1), many: prepare(ROWS_PER_INSERT), valuesOf: rowWriter(names) };
      this.#inserts.set(insert, bulk);
    }
    this.#noteChange(insert.table);
    const values = rows.map(bulk.valuesOf);
    const inMany = values.length - (values.length % ROWS_PER_INSERT);
    for (let index = 0; index < inMany; index += ROWS_PER_INSERT) {
      bulk.many.statement.run(...values.slice(index, index + ROWS_PER_INSERT).flat());
    }
    for (const each of values.slice(inMany)) bulk.one.statement.run(...each);
    if (insert.table !== this.#recentSends.source) return;
    this.#recentSends.noteInserted(rows);
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
    const bulk = this.#bulk(batch, () => {
      const names: string[] = [];
      const sql = batch.select.replace(/:(\w+)/g, (_, name: string) => {
        names.push(name);
        return '?';
      });
      return { sql, names };
    });
    return keys.map((key) => rowsOf(bulk.prepared, bulk.valuesOf(key)));
  }

  async acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]> {
    if (!this.#database.inTransaction) this.#recentSends.follow();
    return queries.map((query) => this.#recentSends.acceptedAt(query));
  }

  #noteChange(table: string): void {
    if (table === this.#recentSends.windows) this.#recentSends.noteWindows();
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

/**
 * Lists arrive as JSON, and a transaction that holds the only write lock needs no row locks. SQLite compiles a statement anew
 * whenever a parameter that stands alone after LIMIT was bound, to plan with its value: that took half of a lookup's time.
 */
function inSqlite(sql: string): string {
  return sql
    .replaceAll('= ANY(?)', 'IN (SELECT value FROM json_each(?))')
    .replace(/\bFOR (UPDATE( SKIP LOCKED)?|SHARE)/g, '')
    .replace(/\bLIMIT \?/g, 'LIMIT ? + 0');
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

function toValue(parameter: Parameter): Value {
  return typeof parameter === 'object' && parameter !== null ? JSON.stringify(parameter) : parameter;
}
