import type { Knex } from 'knex';
import type { AcceptedAtQuery } from '../../../application/ports/stores/message-store.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
import type {
  BatchQuery,
  Connection,
  Insert,
  Parameter,
  Reader,
  Removal,
  Row,
  RowOf,
  Update,
  Value,
  VersionedUpdate,
} from './connection.ts';

/**
 * A connection for the time of one unit of work. It rejects statements after the unit's end, changes outside
 * a transaction, and a commit after a statement failed, so that both databases undo the same things.
 */
export class Session {
  readonly #reader: Reader;
  /** Null where nothing may be changed. */
  readonly #transaction: Connection | null;
  readonly #knex: Knex;
  #isEnded = false;
  #failure: { readonly error: unknown } | null = null;

  /** The session of a transaction on this connection. `knex` only builds SQL; it runs nothing. */
  static ofTransaction(connection: Connection, knex: Knex): Session {
    return new Session(connection, connection, knex);
  }

  static ofReads(reader: Reader, knex: Knex): Session {
    return new Session(reader, null, knex);
  }

  private constructor(reader: Reader, transaction: Connection | null, knex: Knex) {
    this.#reader = reader;
    this.#transaction = transaction;
    this.#knex = knex;
  }

  /** The error of the first statement that failed, or null. A failure that nobody waited for shows at the commit. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** From here on every statement is rejected. */
  end(): void {
    this.#isEnded = true;
  }

  query(sql: string, parameters: readonly Parameter[] = []): Promise<readonly Row[]> {
    return this.#guard(() => this.#reader.query(sql, parameters));
  }

  /** Runs what knex builds: for lists with filters, administration and other reads that are not on a hot path. */
  select(build: (knex: Knex) => Knex.QueryBuilder): Promise<readonly Row[]> {
    return this.#guard(() => {
      const { sql, bindings } = build(this.#knex).toSQL().toNative();
      return this.#reader.queryOnce(sql, bindings as readonly Value[]);
    });
  }

  execute(sql: string, parameters: readonly Parameter[] = []): Promise<number> {
    return this.#change((connection) => connection.execute(sql, parameters));
  }

  async insert<Name extends string>(statement: Insert<Name>, rows: readonly RowOf<Name>[]): Promise<void> {
    if (rows.length > 0) await this.#change((connection) => connection.insert(statement, rows));
  }

  async update<Key extends string, Changed extends string>(
    statement: Update<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<void> {
    if (rows.length > 0) await this.#change((connection) => connection.update(statement, rows));
  }

  async updateVersioned<Key extends string, Changed extends string>(
    statement: VersionedUpdate<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<readonly boolean[]> {
    return rows.length === 0 ? [] : this.#change((connection) => connection.updateVersioned(statement, rows));
  }

  async remove<Key extends string>(
    statement: Removal<Key>,
    rows: readonly RowOf<Key>[],
  ): Promise<readonly boolean[]> {
    return rows.length === 0 ? [] : this.#change((connection) => connection.remove(statement, rows));
  }

  async batchQuery<Name extends string>(
    statement: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]> {
    return keys.length === 0 ? [] : this.#guard(() => this.#reader.batchQuery(statement, keys));
  }

  async acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]> {
    return queries.length === 0 ? [] : this.#guard(() => this.#inTransaction().acceptedAt(queries));
  }

  /** Statements run side by side: behind one that ended the transaction, the others would be committed alone. */
  #change<T>(statement: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#guard(() => {
      const connection = this.#inTransaction();
      // Not thrown: the failure of the statement that ended it comes first.
      return connection.isInTransaction()
        ? statement(connection)
        : Promise.reject(new Error('The transaction has ended'));
    });
  }

  #inTransaction(): Connection {
    invariant(this.#transaction !== null, 'only a transaction changes anything, or asks for recent sends');
    return this.#transaction;
  }

  async #guard<T>(statement: () => Promise<T>): Promise<T> {
    invariant(!this.#isEnded, 'stores are used only while their unit of work runs');
    try {
      return await statement();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }
}
