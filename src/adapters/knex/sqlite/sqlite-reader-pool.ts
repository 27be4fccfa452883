import { WaitGroup } from '../../../application/concurrency/wait-group.ts';
import { StorageUnavailable } from '../../../application/errors/storage-unavailable.ts';
import type { Reader } from '../driver/connection.ts';
import type { ReaderPool } from '../driver/dialect.ts';
import type { SqliteReader } from './sqlite-reader.ts';

/** The only reader of a file: started for the first read, and again when its thread has ended. */
export class SqliteReaderPool implements ReaderPool {
  readonly #start: () => SqliteReader;
  readonly #inUse = new WaitGroup();
  #reader: SqliteReader | null = null;
  #isClosed = false;

  constructor(start: () => SqliteReader) {
    this.#start = start;
  }

  async use<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StorageUnavailable(new Error('The database is closed'));
    if (this.#reader === null || !this.#reader.isOpen) this.#reader = this.#start();
    const reader = this.#reader;
    this.#inUse.begin();
    try {
      return await work(reader);
    } catch (error) {
      throw reader.isOpen ? error : new StorageUnavailable(error);
    } finally {
      this.#inUse.end();
    }
  }

  /** Resolves when the file is closed, once the reads at hand have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inUse.idle();
    if (this.#reader?.isOpen) await this.#reader.close();
  }
}
