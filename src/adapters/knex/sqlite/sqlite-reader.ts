import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { BatchQuery, Parameter, Reader, Row, RowOf, Value } from '../driver/connection.ts';
import { rowReader, rowWriter } from './row-codec.ts';
import { batchText, inSqlite, toValue } from './sqlite-text.ts';

/** One SELECT for each list of values. A statement that is kept is prepared once. */
export interface Select {
  readonly sql: string;
  readonly isKept: boolean;
  readonly each: readonly (readonly Value[])[];
}

interface Selected {
  /** The rows of each list of values, as lists in the order of the columns. */
  readonly rows: readonly (readonly (readonly Value[])[])[];
  readonly columns: readonly string[];
}

export type Outcome = Selected | { readonly message: string; readonly code: string | null };

/** The thread has ended before it gave what it was asked for. */
class ReadingThreadEnded extends Error {
  override readonly name = 'ReadingThreadEnded';

  constructor() {
    super('The reading thread has ended');
  }
}

interface Waiting {
  resolve(selected: Selected): void;
  reject(error: unknown): void;
}

/**
 * Reads a SQLite file in a thread of its own: a long SELECT holds up neither the event loop nor those who write. Each SELECT sees
 * what is committed when it begins.
 */
export class SqliteReader implements Reader {
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  /** Those who wait for a result, in the order in which they asked. */
  readonly #waiting: Waiting[] = [];
  readonly #batches = new WeakMap<object, ReturnType<typeof batchText>>();
  #isOpen = true;
  #isClosing = false;

  /** The file is there, and in WAL mode. `shared` are the numbers of its checkpointer. */
  constructor(filename: string, shared: Int32Array) {
    this.#thread = new Worker(new URL('./reading-thread.mjs', import.meta.url), {
      workerData: { filename, shared },
    });
    this.#thread.on('message', (outcome: Outcome) => this.#settle(outcome));
    this.#thread.once('error', (error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#thread.once('exit', () => {
        this.#end(new ReadingThreadEnded());
        resolve();
      });
    });
    this.#thread.unref();
  }

  /** False when the thread has ended. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  async query(sql: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return this.#rows({ sql: inSqlite(sql), isKept: true, each: [parameters.map(toValue)] });
  }

  async queryOnce(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    return this.#rows({ sql, isKept: false, each: [values] });
  }

  async batchQuery<Name extends string>(
    batch: BatchQuery<Name>,
    keys: readonly RowOf<Name>[],
  ): Promise<readonly (readonly Row[])[]> {
    const text = this.#batches.get(batch) ?? batchText(batch);
    this.#batches.set(batch, text);
    const each = keys.map(rowWriter(text.names));
    const { rows, columns } = await this.#select({ sql: inSqlite(text.sql), isKept: true, each });
    const readRow = rowReader(columns);
    return rows.map((lists) => lists.map(readRow));
  }

  /** Resolves when the thread has closed the file. What was asked for before is read. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#thread.ref();
    this.#thread.postMessage(null);
    await this.#ended;
  }

  async #rows(select: Select): Promise<readonly Row[]> {
    const { rows, columns } = await this.#select(select);
    return (rows[0] ?? []).map(rowReader(columns));
  }

  #select(select: Select): Promise<Selected> {
    if (!this.#isOpen || this.#isClosing) return Promise.reject(new ReadingThreadEnded());
    return new Promise((resolve, reject) => {
      this.#thread.postMessage(select);
      // The process lives on while somebody waits.
      if (this.#waiting.length === 0) this.#thread.ref();
      this.#waiting.push({ resolve, reject });
    });
  }

  #settle(outcome: Outcome): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0 && !this.#isClosing) this.#thread.unref();
    if ('rows' in outcome) waiting?.resolve(outcome);
    else waiting?.reject(errorOf(outcome));
  }

  #end(error: unknown): void {
    this.#isOpen = false;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function errorOf({ message, code }: { readonly message: string; readonly code: string | null }): Error {
  return code === null ? new Error(message) : new Sqlite.SqliteError(message, code);
}
