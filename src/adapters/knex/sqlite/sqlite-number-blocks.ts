import type Sqlite from 'better-sqlite3';

/** A search probes each block once, and a transaction that closes one takes about 5 ms: ten million messages are 5,000 blocks. */
const MESSAGES_PER_BLOCK = 2_000;

/** The block that a message belongs to; null while its block is open. */
const blockOf = (smsId: string) =>
  `(SELECT block FROM number_blocks WHERE last_sms_id >= ${smsId} ORDER BY last_sms_id LIMIT 1)`;

/**
 * The tables of migration 028. The triggers keep the closed blocks true: an index on messages would touch a page of its own for
 * every message, and a block is written once, in order. What was stored before becomes one block.
 */
export const NUMBER_BLOCKS: readonly string[] = [
  `CREATE TABLE number_blocks (
     last_sms_id text PRIMARY KEY,
     block bigint NOT NULL
   ) WITHOUT ROWID`,
  `CREATE TABLE messages_by_number (
     block bigint NOT NULL,
     phone_number text NOT NULL,
     sms_id text NOT NULL,
     PRIMARY KEY (block, phone_number, sms_id)
   ) WITHOUT ROWID`,
  'INSERT INTO number_blocks SELECT MAX(sms_id), 1 FROM messages HAVING MAX(sms_id) IS NOT NULL',
  `INSERT INTO messages_by_number
   SELECT 1, phone_number, sms_id FROM messages ORDER BY phone_number, sms_id`,
  `CREATE TRIGGER message_inserted AFTER INSERT ON messages
   WHEN NEW.sms_id <= (SELECT MAX(last_sms_id) FROM number_blocks) BEGIN
     INSERT INTO messages_by_number VALUES (${blockOf('NEW.sms_id')}, NEW.phone_number, NEW.sms_id);
   END`,
  `CREATE TRIGGER message_number_changed AFTER UPDATE OF phone_number ON messages BEGIN
     UPDATE messages_by_number SET phone_number = NEW.phone_number
     WHERE block = ${blockOf('OLD.sms_id')} AND phone_number = OLD.phone_number AND sms_id = OLD.sms_id;
   END`,
  `CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
     DELETE FROM messages_by_number
     WHERE block = ${blockOf('OLD.sms_id')} AND phone_number = OLD.phone_number AND sms_id = OLD.sms_id;
   END`,
];

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
