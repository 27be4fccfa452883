import type pg from 'pg';
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
  VersionedUpdate,
} from '../driver/connection.ts';

const BEGIN: Readonly<Record<Durability, string>> = {
  full: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  eventual: 'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off',
};

/** After errors of these classes the server has closed the connection or is about to. */
const CONNECTION_LOST = /^(08...|57P0.|25P0[34])$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Texts are put in the order of their bytes, as in the keys of the tables, whatever the database's own order is. */
const TYPES: Readonly<Record<string, string>> = { text: 'text COLLATE "C"' };

/** The tie between a key of a batch query and what was found for it. */
const ORDINAL = 'ordinal';

/** What is under way between BEGIN and the answer to COMMIT. */
interface Transaction {
  /** The answer to BEGIN. */
  begun: Promise<unknown>;
  isBegun: boolean;
  /** Statements that wait for the answer to BEGIN. */
  waiting: number;
  /** Of the first statement that failed. */
  failure: { readonly error: unknown } | null;
}

/**
 * Statements prepared by name on node-postgres. The rows of a bulk statement travel as one JSON parameter.
 * Everything is answered in the order it was asked, so nobody waits for an answer that says nothing: behind BEGIN and
 * bulk changes come the next statements, and COMMIT behind all of them fails with the first that did.
 */
export class PostgresConnection implements Connection {
  readonly #client: pg.Client;
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>();
  readonly #bulks = new WeakMap<object, string>();
  #transaction: Transaction | null = null;
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
    transaction.begun = this.#simple(BEGIN[durability]);
    unwatched(
      transaction.begun.then(() => {
        transaction.isBegun = true;
      }),
    );
  }

  /**
   * A transaction in which a statement failed answers COMMIT with a rollback, and without an error. Of a statement that
   * could not even be sent the server knows nothing: that is known a tick after BEGIN was answered and everything was
   * sent, and then there is no COMMIT.
   */
  async commit(): Promise<void> {
    await this.#transaction?.begun;
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const failure = this.#transaction?.failure ?? null;
    if (failure !== null) throw failure.error;
    const answer = await this.#simple('COMMIT');
    if (answer !== 'COMMIT') throw new Error(`The transaction ended with ${answer} instead of COMMIT`);
    this.#transaction = null;
  }

  /** A broken connection has lost its transaction already, and would only be waited for in vain. */
  async rollback(): Promise<void> {
    this.#transaction = null;
    if (this.#isBroken) return;
    try {
      await this.#simple('ROLLBACK');
    } catch {
      this.#break();
    }
  }

  isUsable(): boolean {
    return !this.#isBroken;
  }

  async query(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return (await this.#inOrder(false, () => this.#prepared(sql, parameters))).rows;
  }

  async execute(sql: string, parameters: readonly Parameter[]): Promise<number> {
    return (await this.#inOrder(true, () => this.#prepared(sql, parameters))).rowCount ?? 0;
  }

  async insert<Name extends string>(insert: Insert<Name>, rows: readonly RowOf<Name>[]): Promise<void> {
    const sql = this.#bulk(insert, () => {
      const names = Object.keys(insert.columns).join(', ');
      return `INSERT INTO ${insert.table} (${names})
        SELECT ${names} FROM ${recordset(insert.columns)} ORDER BY ${insert.orderBy} ${insert.onConflict ?? ''}`;
    });
    unwatched(this.#change(sql, rows));
  }

  async update<Key extends string, Changed extends string>(
    update: Update<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<void> {
    const sql = this.#bulk(update, () => {
      const { table, mode } = update;
      const key = Object.keys(update.key);
      const changes = Object.keys(update.columns).map((name) =>
        mode === 'add' ? `${name} = ${table}.${name} + given.${name}` : `${name} = given.${name}`,
      );
      return `WITH ${givenAndLocked(table, update.key, update.columns)}
        UPDATE ${table} SET ${changes.join(', ')} FROM given JOIN locked USING (${key.join(', ')})
        WHERE ${equalities(table, key, 'given')}`;
    });
    unwatched(this.#change(sql, rows));
  }

  async updateVersioned<Key extends string, Changed extends string>(
    update: VersionedUpdate<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<readonly boolean[]> {
    const key = Object.keys(update.key) as Key[];
    const sql = this.#bulk(update, () => {
      const { table, version } = update;
      const changes = Object.keys(update.columns).map((name) => `${name} = given.${name}`);
      return `WITH ${givenAndLocked(table, update.key, update.columns)}
        UPDATE ${table} SET ${changes.join(', ')}, ${version} = ${table}.${version} + 1
        FROM given JOIN locked USING (${key.join(', ')}) WHERE ${equalities(table, key, 'given')}
        RETURNING ${key.map((name) => `given.${name}`).join(', ')}`;
    });
    return foundAmong(rows, key, (await this.#change(sql, rows)).rows);
  }

  async remove<Key extends string>(
    removal: Removal<Key>,
    rows: readonly RowOf<Key>[],
  ): Promise<readonly boolean[]> {
    const key = Object.keys(removal.key) as Key[];
    const sql = this.#bulk(removal, () => {
      const { table } = removal;
      return `WITH ${givenAndLocked(table, removal.key, {})}
        DELETE FROM ${table} USING locked WHERE ${equalities(table, key, 'locked')}
        RETURNING ${key.map((name) => `${table}.${name}`).join(', ')}`;
    });
    return foundAmong(rows, key, (await this.#change(sql, rows)).rows);
  }

  async batchQuery<Name extends string>(
    batch: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]> {
    const sql = this.#bulk(batch, () => {
      const select = batch.select.replace(/:(\w+)/g, 'keys.$1');
      const asked = recordset({ ...batch.columns, [ORDINAL]: 'bigint' }, 'keys');
      // OFFSET keeps it a search for each key: the planner, which knows nothing of them, would rather join tables.
      return `SELECT keys.${ORDINAL}, found.* FROM ${asked} CROSS JOIN LATERAL (${select} OFFSET 0) AS found`;
    });
    const numbered = keys.map((key, index) => ({ ...key, [ORDINAL]: index }));
    const { rows } = await this.#inOrder(false, () => this.#prepared(sql, [JSON.stringify(numbered)]));
    const answers = keys.map((): Row[] => []);
    for (const row of rows) answers[row[ORDINAL] as number]?.push(row);
    return answers;
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
   * Nothing is changed before BEGIN was answered: had it failed, the server would take every change for a transaction of
   * its own. What is asked behind something that waits, waits with it.
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
   * Notices when an answer means that the connection is gone. Of the statements behind one that failed the
   * server only says that it did: they reject with that failure.
   */
  async #watched<T>(ask: () => Promise<T>): Promise<T> {
    const transaction = this.#transaction;
    try {
      const result = await ask();
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

/** Whoever put it in line hears of its failure from what comes behind it. */
function unwatched(statement: Promise<unknown>): void {
  statement.catch(() => {});
}

/** The five characters by which the server names an error; null when it was not the server that failed. */
export function sqlStateOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && SQLSTATE.test(code) ? code : null;
}

/** For each row whether its key was returned; of equal ones only the first. */
function foundAmong<Key extends string>(
  rows: readonly RowOf<Key>[],
  key: readonly Key[],
  returned: readonly Row[],
): readonly boolean[] {
  const identity = (row: Row) => JSON.stringify(key.map((name) => row[name]));
  const found = new Set(returned.map(identity));
  return rows.map((row) => found.delete(identity(row)));
}

function inPostgres(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}

function recordset(columns: Readonly<Record<string, string>>, alias = 'given'): string {
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${TYPES[type] ?? type}`);
  return `json_to_recordset(?) AS ${alias} (${typed.join(', ')})`;
}

/** The given rows, and the rows of the table they name, locked one after the other in the order of the key. */
function givenAndLocked(
  table: string,
  key: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, string>>,
): string {
  const names = Object.keys(key);
  const qualified = names.map((name) => `${table}.${name}`).join(', ');
  return `given AS (SELECT * FROM ${recordset({ ...key, ...columns })}),
    locked AS (
      SELECT ${qualified} FROM ${table} JOIN given ON ${equalities(table, names, 'given')}
      ORDER BY ${qualified} FOR UPDATE OF ${table})`;
}

function equalities(table: string, names: readonly string[], other: string): string {
  return names.map((name) => `${table}.${name} = ${other}.${name}`).join(' AND ');
}
