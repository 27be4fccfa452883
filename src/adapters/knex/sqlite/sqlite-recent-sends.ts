import { millisecondsInMinute } from 'date-fns/constants';
import type { AcceptedAtQuery } from '../../../application/ports/stores/message-store.ts';
import { firstSmsIdAt, smsIdTime } from '../../../domain/messages/message.ts';
import type { Parameter, Row } from '../driver/connection.ts';

/** Windows count from a clock that may stand a little before the newest message. */
const MARGIN_MS = millisecondsInMinute;
/** How many sends are forgotten together, when none of them counts any more: nothing is searched or moved for that. */
export const SENDS_PER_GENERATION = 50_000;
/** The most messages that are read at a time. */
const PAGE_SIZE = 5_000;

const HAS_SENDS = "SELECT 1 FROM pragma_table_info('messages') WHERE name = 'campaign_id'";

const NEWEST = 'SELECT MAX(sms_id) AS sms_id FROM messages';

/** In minutes; null when no project has a rate limit. */
const LONGEST_WINDOW = `SELECT MAX(json_extract(settings, '$.rateLimit.timeWindowMinutes')) AS minutes FROM projects`;

const PAGE = `
  SELECT sms_id, project_id, phone_number, created_at, campaign_id FROM messages
  WHERE sms_id > ? ORDER BY sms_id LIMIT ${PAGE_SIZE}`;

/** Runs a SELECT on the connection that asks. */
type Query = (sql: string, parameters: readonly Parameter[]) => Promise<readonly Row[]>;

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
  /** The version of the file that was read; null when none was. */
  #version: number | null = null;
  /** The longest rate window, as it was read last. */
  #windowMinutes = 0;
  /** Projects were changed since. */
  #mayWindowsDiffer = false;
  /** The newest first. */
  #generations: Generation[] = [];

  /**
   * Brings the copy to this version of the file, which `query` reads. At the beginning of a transaction that has the write lock,
   * and before its other statements: nobody writes meanwhile. Rejects when the messages cannot be read.
   */
  async follow(version: number, query: Query): Promise<void> {
    if (version !== this.#version) return this.#read(version, query);
    if (this.#mayWindowsDiffer && (await longestWindow(query)) > this.#windowMinutes) {
      return this.#read(version, query);
    }
    this.#mayWindowsDiffer = false;
  }

  /** As `MessageStore.acceptedAt`, the newest first. `uncommitted` are rows that the open transaction inserted. */
  acceptedAt(
    { projectId, phoneNumber, since, until, limit }: AcceptedAtQuery,
    uncommitted: readonly Row[],
  ): readonly number[] {
    const found = uncommitted
      .filter((row) => row.project_id === projectId && row.phone_number === phoneNumber)
      .map((row) => row.created_at as number);
    for (const { acceptedAt, newestAt } of this.#generations) {
      if (newestAt > since) found.push(...(acceptedAt.get(projectId)?.get(phoneNumber) ?? []));
    }
    return found
      .filter((at) => at > since && at <= until)
      .sort((a, b) => b - a)
      .slice(0, limit);
  }

  /** A transaction that inserted these messages was committed. */
  add(rows: readonly Row[]): void {
    for (const row of rows) this.#add(row);
  }

  /** A transaction that changed projects was committed. */
  noteWindows(): void {
    this.#mayWindowsDiffer = true;
  }

  async #read(version: number, query: Query): Promise<void> {
    if ((await query(HAS_SENDS, [])).length === 0) {
      // Before the migrations there is nothing to follow.
      if (this.#version === null) return;
      throw new Error('The table messages is gone');
    }
    this.#version = null;
    this.#generations = [];
    const [newest] = await query(NEWEST, []);
    this.#windowMinutes = await longestWindow(query);
    const newestAt = smsIdTime((newest?.sms_id as string | null) ?? '') || 0;
    for (let after = firstSmsIdAt(this.#countsFrom(newestAt)); ; ) {
      const rows = await query(PAGE, [after]);
      for (const row of rows) if (row.campaign_id === null) this.#add(row);
      if (rows.length < PAGE_SIZE) break;
      after = rows.at(-1)?.sms_id as string;
    }
    this.#version = version;
    this.#mayWindowsDiffer = false;
  }

  #add(row: Row): void {
    const at = row.created_at as number;
    const generation = this.#openGeneration();
    const ofProject = generation.acceptedAt.get(row.project_id as string) ?? new Map<string, number[]>();
    if (ofProject.size === 0) generation.acceptedAt.set(row.project_id as string, ofProject);
    const ofNumber = ofProject.get(row.phone_number as string);
    if (ofNumber === undefined) ofProject.set(row.phone_number as string, [at]);
    else ofNumber.push(at);
    generation.sends += 1;
    generation.newestAt = Math.max(generation.newestAt, at);
  }

  /** The newest generation; when that is full a new one, and then those are forgotten that count no more. */
  #openGeneration(): Generation {
    const [newest] = this.#generations;
    if (newest !== undefined && newest.sends < SENDS_PER_GENERATION) return newest;
    const opened: Generation = { acceptedAt: new Map(), sends: 0, newestAt: Number.NEGATIVE_INFINITY };
    const from = newest === undefined ? 0 : this.#countsFrom(newest.newestAt);
    this.#generations = [opened, ...this.#generations.filter(({ newestAt }) => newestAt >= from)];
    return opened;
  }

  /** Sends before this instant count for no rate limit, in milliseconds since 1970. */
  #countsFrom(newestAt: number): number {
    // A newest message that a clock ahead of its time wrote says nothing of today; a clock that tests move may be behind.
    const latest = Math.min(newestAt, Date.now());
    return Math.max(0, latest - this.#windowMinutes * millisecondsInMinute - MARGIN_MS);
  }
}

async function longestWindow(query: Query): Promise<number> {
  const [longest] = await query(LONGEST_WINDOW, []);
  return (longest?.minutes as number | null) ?? 0;
}
