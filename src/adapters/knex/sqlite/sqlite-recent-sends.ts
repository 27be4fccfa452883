import type Sqlite from 'better-sqlite3';
import { SMS_ID_PREFIX } from '../../../domain/messages/message.ts';

const MS_PER_MINUTE = 60_000;
/** The part that stays in memory; the rest goes to a temporary file that is never synced. */
const CACHE_KIB = 16 * 1024;
/** Windows count from a clock that may stand a little before the newest message. */
const MARGIN_MS = MS_PER_MINUTE;
/** Rows too old to count are removed after at least so many new ones, so that finding them costs little. */
const ROWS_BETWEEN_PRUNINGS_MIN = 50_000;

/**
 * The single sends of the longest rate window by number, beside the database and never in it: an index by number in
 * the file would touch a page of its own for every message and cost more than all the rest of accepting one.
 * The messages are the truth: this copy is read from them, follows them by a trigger inside the same transaction,
 * and is read again when another connection has written.
 */
export class SqliteRecentSends {
  /** The table that this follows. */
  readonly source = 'messages';
  readonly #database: Sqlite.Database;
  readonly #dataVersion: Sqlite.Statement<[], number>;
  /** The version of the file that was read; null when none was, or when the reading was undone. */
  #version: number | null = null;
  #isCommitted = true;
  #hasRead = false;
  #rowsSincePruning = 0;
  #rowsKept = 0;

  constructor(database: Sqlite.Database) {
    this.#database = database;
    this.#dataVersion = database.prepare<[], number>('PRAGMA data_version').pluck();
    database.pragma(`temp.cache_size = -${CACHE_KIB}`);
    database.pragma('temp.journal_mode = MEMORY');
  }

  /**
   * Follows what other connections wrote. In a transaction call it when that has the write lock: nobody else can write then.
   * Throws when the messages cannot be read.
   */
  follow(): void {
    const version = this.#dataVersion.get() ?? 0;
    if (version !== this.#version) this.#read(version);
    else if (this.#rowsSincePruning > Math.max(ROWS_BETWEEN_PRUNINGS_MIN, this.#rowsKept)) this.#prune();
  }

  /** The transaction was committed. */
  keep(): void {
    this.#isCommitted = true;
  }

  /** The transaction was rolled back, and with it what was read since it began. */
  undo(): void {
    if (!this.#isCommitted) this.#version = null;
    this.#isCommitted = true;
  }

  noteInserted(rows: number): void {
    this.#rowsSincePruning += rows;
  }

  #read(version: number): void {
    const hasColumn = this.#database
      .prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = 'campaign_id'")
      .get(this.source);
    if (hasColumn === undefined) {
      // Before the migrations there is nothing to follow.
      if (!this.#hasRead) return;
      throw new Error(`The table ${this.source} is gone`);
    }
    this.#database.exec(`
      CREATE TEMP TABLE IF NOT EXISTS recent_sends (
        project_id text NOT NULL,
        phone_number text NOT NULL,
        created_at bigint NOT NULL,
        sms_id text NOT NULL,
        PRIMARY KEY (project_id, phone_number, created_at, sms_id)
      ) WITHOUT ROWID;
      CREATE TEMP TRIGGER IF NOT EXISTS remember_send AFTER INSERT ON main.messages
      WHEN NEW.campaign_id IS NULL BEGIN
        INSERT OR IGNORE INTO recent_sends VALUES (NEW.project_id, NEW.phone_number, NEW.created_at, NEW.sms_id);
      END`);
    this.#database
      .prepare(
        `INSERT OR IGNORE INTO recent_sends
         SELECT project_id, phone_number, created_at, sms_id FROM messages
         WHERE sms_id >= ? AND campaign_id IS NULL`,
      )
      .run(this.#oldestIdThatCounts());
    this.#version = version;
    this.#isCommitted = false;
    this.#hasRead = true;
  }

  #prune(): void {
    this.#database.prepare('DELETE FROM recent_sends WHERE sms_id < ?').run(this.#oldestIdThatCounts());
    this.#rowsKept =
      this.#database.prepare<[], number>('SELECT COUNT(*) FROM recent_sends').pluck().get() ?? 0;
    this.#rowsSincePruning = 0;
  }

  /** Message ids begin with their time in hex, so a time is a range of ids. */
  #oldestIdThatCounts(): string {
    const newest = this.#database
      .prepare<[], string | null>('SELECT MAX(sms_id) FROM messages')
      .pluck()
      .get();
    const minutes = this.#database
      .prepare<[], number | null>(
        "SELECT MAX(json_extract(settings, '$.rateLimit.timeWindowMinutes')) FROM projects",
      )
      .pluck()
      .get();
    const newestAt =
      Number.parseInt((newest ?? '').slice(SMS_ID_PREFIX.length, SMS_ID_PREFIX.length + 12), 16) || 0;
    // A newest message that a clock ahead of its time wrote says nothing of today; a clock that tests move may be behind.
    const latest = Math.min(newestAt, Date.now());
    const from = Math.max(0, latest - (minutes ?? 0) * MS_PER_MINUTE - MARGIN_MS);
    return SMS_ID_PREFIX + from.toString(16).padStart(12, '0');
  }
}
