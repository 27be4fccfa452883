import type Sqlite from 'better-sqlite3';

/** A search reads each block once, and a transaction that closes one takes about 5 ms: ten million messages are 5,000 blocks. */
const MESSAGES_PER_BLOCK = 2_000;

const END_OF_NEXT = `
  SELECT sms_id FROM messages WHERE sms_id > (SELECT COALESCE(MAX(last_sms_id), '') FROM number_blocks)
  ORDER BY sms_id LIMIT 1 OFFSET ${MESSAGES_PER_BLOCK - 1}`;

const FILL = `
  INSERT INTO messages_by_number
  SELECT (SELECT COALESCE(MAX(block), 0) + 1 FROM number_blocks), phone_number, sms_id FROM messages
  WHERE sms_id > (SELECT COALESCE(MAX(last_sms_id), '') FROM number_blocks) AND sms_id <= ?
  ORDER BY phone_number, sms_id`;

const CLOSE = 'INSERT INTO number_blocks SELECT ?, COALESCE(MAX(block), 0) + 1 FROM number_blocks';

/** All messages of these were removed. */
const REMOVE_EMPTY = 'DELETE FROM number_blocks WHERE last_sms_id < (SELECT MIN(sms_id) FROM messages)';

/**
 * Closes blocks: the messages behind the last block become the next one, sorted by number, inside a transaction that inserts
 * messages. The messages of the open block are few: a search reads all of them.
 */
export class SqliteNumberBlocks {
  readonly #database: Sqlite.Database;
  /** The fewest messages that the open block may have, as far as this connection knows. */
  #rows = MESSAGES_PER_BLOCK;

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  noteInserted(rows: number): void {
    this.#rows += rows;
    if (this.#rows < MESSAGES_PER_BLOCK) return;
    while (this.#closeNext());
    this.#rows = 0;
  }

  /** The transaction was rolled back, and with it the blocks that it closed. */
  undo(): void {
    this.#rows = MESSAGES_PER_BLOCK;
  }

  /** Whether there was a full block to close. */
  #closeNext(): boolean {
    const last = this.#database.prepare<[], string>(END_OF_NEXT).pluck().get();
    if (last === undefined) return false;
    this.#database.prepare(FILL).run(last);
    this.#database.prepare(CLOSE).run(last);
    this.#database.prepare(REMOVE_EMPTY).run();
    return true;
  }
}
