import type { Knex } from 'knex';
import type { AcceptedAtQuery } from '../../../application/ports/message-store.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
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
} from './connection.ts';

/**
 * A connection for the time of one unit of work. It rejects statements after the unit's end, changes outside
 * a transaction, and a commit after a statement failed, so that both databases undo the same things.
 */
export class Session {
  readonly #connection: Connection;
  readonly #mode: 'transaction' | 'read';
  readonly #knex: Knex;
  #isEnded = false;
  #failure: { readonly error: unknown } | null = null;

  /** `knex` only builds SQL; it runs nothing. */
  constructor(connection: Connection, knex: Knex, mode: 'transaction' | 'read') {
    this.#connection = connection;
    this.#knex = knex;
    this.#mode = mode;
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
    return this.#guard(() => this.#connection.query(sql, parameters));
  }

  /** Runs what knex builds: for lists with filters, administration and other reads that are not on a hot path. */
  select(build: (knex: Knex) => Knex.QueryBuilder): Promise<readonly Row[]> {
    return this.#guard(() => {
      const { sql, bindings } = build(this.#knex).toSQL().toNative();
      return this.#connection.queryOnce(sql, bindings as readonly Value[]);
    });
  }

  execute(sql: string, parameters: readonly Parameter[] = []): Promise<number> {
    return this.#change(() => this.#connection.execute(sql, parameters));
  }

  async insert<Name extends string>(statement: Insert<Name>, rows: readonly RowOf<Name>[]): Promise<void> {
    if (rows.length > 0) await this.#change(() => this.#connection.insert(statement, rows));
  }

  async update<Key extends string, Changed extends string>(
    statement: Update<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<void> {
    if (rows.length > 0) await this.#change(() => this.#connection.update(statement, rows));
  }

  async updateVersioned<Key extends string, Changed extends string>(
    statement: VersionedUpdate<Key, Changed>,
    rows: readonly RowOf<NoInfer<Key | Changed>>[],
  ): Promise<readonly boolean[]> {
    return rows.length === 0 ? [] : this.#change(() => this.#connection.updateVersioned(statement, rows));
  }

  async remove<Key extends string>(
    statement: Removal<Key>,
    rows: readonly RowOf<Key>[],
  ): Promise<readonly boolean[]> {
    return rows.length === 0 ? [] : this.#change(() => this.#connection.remove(statement, rows));
  }

  async batchQuery<Name extends string>(
    statement: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]> {
    return keys.length === 0 ? [] : this.#guard(() => this.#connection.batchQuery(statement, keys));
  }

  async acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]> {
    return queries.length === 0 ? [] : this.#guard(() => this.#connection.acceptedAt(queries));
  }

  #change<T>(statement: () => Promise<T>): Promise<T> {
    return this.#guard(() => {
      invariant(this.#mode === 'transaction', 'only a transaction changes anything');
      return statement();
    });
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
