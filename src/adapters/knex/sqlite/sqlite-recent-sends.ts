import type Sqlite from 'better-sqlite3';
import type { AcceptedAtQuery } from '../../../application/ports/message-store.ts';
import { SMS_ID_PREFIX } from '../../../domain/messages/message.ts';
import type { Row } from '../driver/connection.ts';

const MS_PER_MINUTE = 60_000;
/** Windows count from a clock that may stand a little before the newest message. */
const MARGIN_MS = MS_PER_MINUTE;
/** So many sends are forgotten together, when none of them counts any more: nothing is searched or moved for that. */
export const SENDS_PER_GENERATION = 50_000;

/** Sends that were added one after the other, and mostly at about the same time. */
interface Generation {
  /** By project and number: milliseconds since 1970. */
  readonly acceptedAt: Map<string, Map<string, number[]>>;
  sends: number;
  newestAt: number;
}

/**
 * The single sends of the longest rate window by number, in memory: an index by number in the file would touch a page of its
 * own for every message and cost more than all the rest of accepting one. The messages are the truth: this copy is read from
 * them, follows what its own connection commits, and is read again when another connection has written.
 */
export class SqliteRecentSends {
  /** The table that this follows. */
  readonly source = 'messages';
  /** The table of the rate windows. */
  readonly windows = 'projects';
  readonly #database: Sqlite.Database;
  readonly #dataVersion: Sqlite.Statement<[], number>;
  /** The version of the file that was read; null when none was. */
  #version: number | null = null;
  /** The longest rate window when sends were last read or forgotten. */
  #windowMinutes = 0;
  /** The newest first. */
  #generations: Generation[] = [];
  /** What the open transaction inserted. */
  #uncommitted: Row[] = [];
  /** The open transaction changed projects. */
  #mayWindowsChange = false;

  constructor(database: Sqlite.Database) {
    this.#database = database;
    this.#dataVersion = database.prepare<[], number>('PRAGMA data_version').pluck();
  }

  /**
   * Follows what other connections wrote. In a transaction call it when that has the write lock, before it inserts: nobody else
   * can write then. Throws when the messages cannot be read.
   */
  follow(): void {
    const version = this.#dataVersion.get() ?? 0;
    if (version !== this.#version) this.#read(version);
  }

  /** As `MessageStore.acceptedAt`, the newest first. */
  acceptedAt({ projectId, phoneNumber, since, limit }: AcceptedAtQuery): readonly number[] {
    const found = this.#uncommitted
      .filter((row) => row.project_id === projectId && row.phone_number === phoneNumber)
      .map((row) => row.created_at as number);
    for (const { acceptedAt, newestAt } of this.#generations) {
      if (newestAt > since) found.push(...(acceptedAt.get(projectId)?.get(phoneNumber) ?? []));
    }
    return found
      .filter((at) => at > since)
      .sort((a, b) => b - a)
      .slice(0, limit);
  }

  /** The open transaction inserted these messages. */
  noteInserted(rows: readonly Row[]): void {
    for (const row of rows) if (row.campaign_id === null) this.#uncommitted.push(row);
  }

  /** The open transaction changed projects. */
  noteWindows(): void {
    this.#mayWindowsChange = true;
  }

  /** The transaction was committed. */
  keep(): void {
    if (this.#mayWindowsChange) {
      this.#mayWindowsChange = false;
      // Older sends count from now on, which are not in memory.
      if (this.#longestWindow() > this.#windowMinutes) this.#version = null;
    }
    if (this.#uncommitted.length === 0) return;
    for (const row of this.#uncommitted) {
      this.#add(row.project_id as string, row.phone_number as string, row.created_at as number);
    }
    this.#uncommitted = [];
  }

  /** The transaction was rolled back. */
  undo(): void {
    this.#uncommitted = [];
    this.#mayWindowsChange = false;
  }

  #read(version: number): void {
    const hasColumn = this.#database
      .prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = 'campaign_id'")
      .get(this.source);
    if (hasColumn === undefined) {
      // Before the migrations there is nothing to follow.
      if (this.#version === null) return;
      throw new Error(`The table ${this.source} is gone`);
    }
    this.#generations = [];
    const sends = this.#database
      .prepare<[string], [string, string, number]>(
        `SELECT project_id, phone_number, created_at FROM messages
         WHERE sms_id >= ? AND campaign_id IS NULL ORDER BY sms_id`,
      )
      .raw();
    for (const send of sends.iterate(idFrom(this.#countsFrom()))) this.#add(...send);
    this.#version = version;
  }

  #add(projectId: string, phoneNumber: string, at: number): void {
    const generation = this.#openGeneration();
    const ofProject = generation.acceptedAt.get(projectId) ?? new Map<string, number[]>();
    if (ofProject.size === 0) generation.acceptedAt.set(projectId, ofProject);
    const ofNumber = ofProject.get(phoneNumber);
    if (ofNumber === undefined) ofProject.set(phoneNumber, [at]);
    else ofNumber.push(at);
    generation.sends += 1;
    generation.newestAt = Math.max(generation.newestAt, at);
  }

  /** The newest generation; when that is full a new one, and then those are forgotten that count no more. */
  #openGeneration(): Generation {
    const [newest] = this.#generations;
    if (newest !== undefined && newest.sends < SENDS_PER_GENERATION) return newest;
    const opened: Generation = { acceptedAt: new Map(), sends: 0, newestAt: Number.NEGATIVE_INFINITY };
    const from = newest === undefined ? 0 : this.#countsFrom();
    this.#generations = [opened, ...this.#generations.filter(({ newestAt }) => newestAt >= from)];
    return opened;
  }

  /** Sends before this instant count for no rate limit, in milliseconds since 1970. */
  #countsFrom(): number {
    const newest = this.#database
      .prepare<[], string | null>('SELECT MAX(sms_id) FROM messages')
      .pluck()
      .get();
    this.#windowMinutes = this.#longestWindow();
    const newestAt =
      Number.parseInt((newest ?? '').slice(SMS_ID_PREFIX.length, SMS_ID_PREFIX.length + 12), 16) || 0;
    // A newest message that a clock ahead of its time wrote says nothing of today; a clock that tests move may be behind.
    const latest = Math.min(newestAt, Date.now());
    return Math.max(0, latest - this.#windowMinutes * MS_PER_MINUTE - MARGIN_MS);
  }

  /** In minutes. */
  #longestWindow(): number {
    const sql = `SELECT MAX(json_extract(settings, '$.rateLimit.timeWindowMinutes')) FROM ${this.windows}`;
    return this.#database.prepare<[], number | null>(sql).pluck().get() ?? 0;
  }
}

/** Message ids begin with their time in hex, so a time is a range of ids. */
function idFrom(at: number): string {
  return SMS_ID_PREFIX + at.toString(16).padStart(12, '0');
}
