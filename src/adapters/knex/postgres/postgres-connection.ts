import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import type { AcceptedAtQuery } from '../../../application/ports/stores/message-store.ts';
import type { Durability } from '../../../application/ports/unit-of-work.ts';
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
import {
  batchQueryText,
  foundAmong,
  inPostgres,
  insertText,
  removalText,
  rowsByKey,
  updateText,
  versionedUpdateText,
} from './statement-texts.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
const WITH_DURABILITY: Readonly<Record<Durability, string>> = {
  full: '',
  eventual: '; SET LOCAL synchronous_commit = off',
};
/**
 * The plans of a connection are made anew after this time, in milliseconds. A plan that was made while a table was small may go
 * by the wrong index: for recent sends by that of the project, which reads all recent messages of a project for each number. A
 * burst into a table that was empty must not wait longer for a better one. Planning that query takes some 0.2 ms, in which other
 * sends of the account wait: with each transaction that is too much.
 */
export const PLANS_KEPT_MS = 1_000;
const DISCARD_PLANS = 'DISCARD PLANS; ';

/** A write in a transaction that may only read. */
export const READ_ONLY = '25006';
/**
 * After these errors the connection is not used again. Most say that the server closes it. A session that is read-only may stay
 * so when its database is not any more: a new one asks anew.
 */
const CONNECTION_LOST = new RegExp(`^(08...|57P0.|25P0[34]|${READ_ONLY})$`);
const SQLSTATE = /^[0-9A-Z]{5}$/;

const ACCEPTED_AT = {
  columns: { project_id: 'text', phone_number: 'text', since: 'bigint', until: 'bigint', newest: 'bigint' },
  select: `
    SELECT created_at FROM recent_sends
    WHERE recent_sends.project_id = :project_id AND recent_sends.phone_number = :phone_number
      AND created_at > :since AND created_at <= :until
    ORDER BY created_at DESC LIMIT :newest`,
} as const satisfies BatchQuery<string>;

/** The state of a transaction, from BEGIN to the result of COMMIT. */
interface Transaction {
  /** The result of BEGIN. */
  begun: Promise<unknown>;
  isBegun: boolean;
  /** Statements that wait for the result of BEGIN. */
  waiting: number;
  /** Of the first statement that failed. */
  failure: { readonly error: unknown } | null;
}

/**
 * Statements prepared by name on node-postgres. The rows of a bulk statement travel as one JSON parameter. The server
 * runs statements in the order they were sent, so BEGIN and bulk changes are sent without waiting for their results:
 * the next statement follows at once, and the commit rejects with the first failure.
 */
export class PostgresConnection implements Connection {
  readonly #client: pg.Client;
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>();
  readonly #bulks = new WeakMap<object, string>();
  #transaction: Transaction | null = null;
  #plansMadeAt = performance.now();
  #isBroken = false;

  constructor(client: pg.Client) {
    this.#client = client;
    client.once('error', () => this.#break());
    client.once('end', () => this.#break());
  }

  async begin(durability: Durability): Promise<void> {
    const transaction: Transaction = {
      begun: Promise.resolve(),
      isBegun: false,
      waiting: 0,
      failure: null,
    };
    this.#transaction = transaction;
    const begin = BEGIN + WITH_DURABILITY[durability];
    transaction.begun = this.#simple(this.#arePlansOld() ? DISCARD_PLANS + begin : begin);
    unwatched(
      transaction.begun.then(() => {
        transaction.isBegun = true;
      }),
    );
  }

  /**
   * The server ends a transaction in which a statement failed with a rollback, and without an error. It does not know of
   * a statement that could not be sent: such a failure is known a tick after BEGIN succeeded, and then COMMIT is not sent.
   */
  async commit(): Promise<void> {
    await this.#transaction?.begun;
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const failure = this.#transaction?.failure ?? null;
    if (failure !== null) throw failure.error;
    const command = await this.#simple('COMMIT');
    if (command !== 'COMMIT') throw new Error(`The transaction ended with ${command} instead of COMMIT`);
    this.#transaction = null;
  }

  /** A broken connection has lost its transaction already. */
  async rollback(): Promise<void> {
    this.#transaction = null;
    if (this.#isBroken) return;
    try {
      await this.#simple('ROLLBACK');
    } catch {
      this.#break();
    }
  }

  isInTransaction(): boolean {
    return this.#transaction !== null;
  }

  isUsable(): boolean {
    return !this.#isBroken;
  }

  async query(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return (await this.#inOrder(false, () => this.#prepared(sql, parameters))).rows;
  }

  async queryOnce(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    const query = { text: sql, values: [...values] };
    return (await this.#inOrder(false, () => this.#watched(() => this.#client.query<Row>(query)))).rows;
  }

  async execute(sql: string, parameters: readonly Parameter[]): Promise<number> {
    return (await this.#inOrder(true, () => this.#prepared(sql, parameters))).rowCount ?? 0;
  }

  async insert<Name extends string>(insert: Insert<Name>, rows: readonly RowOf<Name>[]): Promise<void> {
    const sql = this.#bulk(insert, () => insertText(insert));
    unwatched(this.#change(sql, rows));
  }

  async update<Key extends string, Changed extends string>(
    update: Update<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<void> {
    const sql = this.#bulk(update, () => updateText(update));
    unwatched(this.#change(sql, rows));
  }

  async updateVersioned<Key extends string, Changed extends string>(
    update: VersionedUpdate<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<readonly boolean[]> {
    const key = Object.keys(update.key) as Key[];
    const sql = this.#bulk(update, () => versionedUpdateText(update));
    return foundAmong(rows, key, (await this.#change(sql, rows)).rows);
  }

  async remove<Key extends string>(
    removal: Removal<Key>,
    rows: readonly RowOf<Key>[],
  ): Promise<readonly boolean[]> {
    const key = Object.keys(removal.key) as Key[];
    const sql = this.#bulk(removal, () => removalText(removal));
    return foundAmong(rows, key, (await this.#change(sql, rows)).rows);
  }

  async batchQuery<Name extends string>(
    batch: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]> {
    const sql = this.#bulk(batch, () => batchQueryText(batch));
    const { rows } = await this.#inOrder(false, () => this.#prepared(sql, [JSON.stringify(keys)]));
    return rowsByKey(rows, keys.length);
  }

  async acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]> {
    const found = await this.batchQuery(
      ACCEPTED_AT,
      queries.map(({ projectId, phoneNumber, since, until, limit }) => ({
        project_id: projectId,
        phone_number: phoneNumber,
        since,
        until,
        newest: limit,
      })),
    );
    return found.map((rows) => rows.map((row) => row.created_at as number));
  }

  #arePlansOld(): boolean {
    const now = performance.now();
    if (now - this.#plansMadeAt < PLANS_KEPT_MS) return false;
    this.#plansMadeAt = now;
    return true;
  }

  /** The text of a bulk statement, made once per connection. */
  #bulk(key: object, text: () => string): string {
    let sql = this.#bulks.get(key);
    if (sql === undefined) {
      sql = text();
      this.#bulks.set(key, sql);
    }
    return sql;
  }

  async #prepared(sql: string, values: readonly Parameter[]): Promise<pg.QueryResult<Row>> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = { name: `statement-${this.#statements.size}`, text: inPostgres(sql) };
      this.#statements.set(sql, statement);
    }
    const { name, text } = statement;
    return this.#watched(() => this.#client.query<Row>({ name, text, values: [...values] }));
  }

  async #simple(sql: string): Promise<string> {
    return (await this.#watched(() => this.#client.query(sql))).command;
  }

  #change(sql: string, rows: readonly unknown[]): Promise<pg.QueryResult<Row>> {
    const parameter = JSON.stringify(rows);
    return this.#inOrder(true, () => this.#prepared(sql, [parameter]));
  }

  /**
   * No change is sent before BEGIN succeeded: if BEGIN failed, the server would commit each change by itself. Statements
   * behind one that waits wait too.
   */
  #inOrder<T>(changes: boolean, send: () => Promise<T>): Promise<T> {
    const transaction = this.#transaction;
    if (transaction === null) return send();
    if (transaction.waiting === 0 && (transaction.isBegun || !changes)) return send();
    transaction.waiting += 1;
    return transaction.begun.then(() => {
      transaction.waiting -= 1;
      if (this.#transaction !== transaction) throw new Error('The transaction is over');
      return send();
    });
  }

  /**
   * Notices an error that means a lost connection. Statements behind one that failed reject with that first failure: the
   * server only says that the transaction is aborted.
   */
  async #watched<T>(send: () => Promise<T>): Promise<T> {
    const transaction = this.#transaction;
    try {
      const result = await send();
      if (transaction === null || transaction.failure === null) return result;
    } catch (error) {
      const code = sqlStateOf(error);
      if (code === null || CONNECTION_LOST.test(code)) this.#break();
      if (transaction === null) throw error;
      transaction.failure ??= { error };
    }
    throw transaction.failure.error;
  }

  #break(): void {
    this.#isBroken = true;
  }
}

/** Nobody waits for this statement: its failure shows in the statements behind it and in the commit. */
function unwatched(statement: Promise<unknown>): void {
  statement.catch(() => {});
}

/** The server's five-character code of an error, or null when the error is not the server's. */
export function sqlStateOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && SQLSTATE.test(code) ? code : null;
}
