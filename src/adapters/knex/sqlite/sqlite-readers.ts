import { IdleGate } from '../../../application/idle-gate.ts';
import type { Reader } from '../driver/connection.ts';
import type { Readers } from '../driver/dialect.ts';
import { SqliteReader } from './sqlite-reader.ts';

/** The reader of a file: started for the first read, and again when its thread has ended. */
export class SqliteReaders implements Readers {
  readonly #filename: string;
  readonly #inUse = new IdleGate();
  #reader: SqliteReader | null = null;

  constructor(filename: string) {
    this.#filename = filename;
  }

  async use<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#reader === null || !this.#reader.isOpen) this.#reader = new SqliteReader(this.#filename);
    this.#inUse.begin();
    try {
      return await work(this.#reader);
    } finally {
      this.#inUse.end();
    }
  }

  /** Resolves when the file is closed, once the reads at hand have ended. */
  async close(): Promise<void> {
    await this.#inUse.idle();
    if (this.#reader?.isOpen) await this.#reader.close();
  }
}
