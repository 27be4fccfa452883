import type {
  FoundMessage,
  FoundMessages,
  MessageSearch,
  MessageSearchStore,
} from '../../../application/ports/stores/message-search-store.ts';
import type { MessagePlace } from '../../../application/ports/stores/message-store.ts';
import { firstSmsIdAt, smsIdTime } from '../../../domain/messages/message.ts';
import type { MessageStatus } from '../../../domain/messages/message-status.ts';
import type { Channel } from '../../../domain/shared/channel.ts';
import { money } from '../../../domain/shared/money.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';
import type { Parameter, Row } from '../driver/connection.ts';
import type { Dialect } from '../driver/dialect.ts';
import type { Session } from '../driver/session.ts';
import { columnReader } from './column-reader.ts';

const COLUMNS = `messages.sms_id, messages.project_id, messages.campaign_id, messages.phone_number, messages.channels,
  messages.status, messages.is_final, messages.cost, messages.created_at, messages.sent_at, messages.final_at,
  messages.error_reason`;

const OF_ALL = `
  SELECT ${COLUMNS} FROM messages WHERE sms_id >= ? AND sms_id < ?
  ORDER BY sms_id DESC LIMIT ?`;

const OF_PROJECT = `
  SELECT ${COLUMNS} FROM messages
  WHERE project_id = ? AND created_at >= ? AND (created_at, sms_id) < (?, ?)
  ORDER BY project_id DESC, created_at DESC, sms_id DESC LIMIT ?`;

/**
 * In the order of the index by number, which has no ids: all rows of the last instant come, and are sorted outside. With the ids
 * in the inner order PostgreSQL would read every message to the number.
 */
const NEWEST_OF_NUMBER = `
  SELECT ${COLUMNS} FROM messages
  WHERE messages.project_id = @project AND messages.phone_number = ? AND created_at >= ?
    AND (created_at, sms_id) < (?, ?)
  ORDER BY created_at DESC FETCH FIRST ? ROWS WITH TIES`;

/** The index by number begins with the project: one search for each of them. */
const OF_NUMBER = `
  SELECT ${COLUMNS} FROM projects CROSS JOIN LATERAL (
    ${NEWEST_OF_NUMBER.replace('@project', 'projects.id')}) AS messages
  ORDER BY created_at DESC, sms_id DESC LIMIT ?`;

const OF_NUMBER_IN_PROJECT = `
  SELECT ${COLUMNS} FROM (${NEWEST_OF_NUMBER.replace('@project', '?')}) AS messages
  ORDER BY created_at DESC, sms_id DESC LIMIT ?`;

/** The most blocks that one read searches. */
const BLOCKS_PER_READ = 2_500;

/** The last message of a block, and of each one that ended before: the newest of them is the one that a time lies in. */
const NEWEST_BLOCK = `
  COALESCE((SELECT last_sms_id FROM number_blocks WHERE last_sms_id >= ? ORDER BY last_sms_id LIMIT 1), '~')`;

/** Where the next read begins when there are more blocks than one may search. */
const END_OF_READ = `
  SELECT last_sms_id FROM number_blocks WHERE last_sms_id >= ? AND last_sms_id <= ${NEWEST_BLOCK}
  ORDER BY last_sms_id DESC LIMIT 1 OFFSET ${BLOCKS_PER_READ}`;

/** The end of the last block that is closed. */
const END_OF_BLOCKS = "SELECT COALESCE(MAX(last_sms_id), '') AS end_of_blocks FROM number_blocks";

/** The messages behind the closed blocks. */
const OF_NUMBER_BEHIND_BLOCKS = `
  SELECT ${COLUMNS} FROM messages
  WHERE sms_id > ? AND sms_id >= ? AND sms_id < ? AND phone_number = ?
  ORDER BY sms_id DESC LIMIT ?`;

/** The joins are in the order of the result: no message is read that is not on the page. */
const OF_NUMBER_IN_BLOCKS = `
  SELECT ${COLUMNS} FROM number_blocks CROSS JOIN messages_by_number AS sent CROSS JOIN messages
  WHERE number_blocks.last_sms_id >= ? AND number_blocks.last_sms_id <= ${NEWEST_BLOCK}
    AND number_blocks.last_sms_id <= ? AND sent.block = number_blocks.block AND sent.phone_number = ? AND sent.sms_id >= ? AND sent.sms_id < ?
    AND messages.sms_id = sent.sms_id
  ORDER BY number_blocks.last_sms_id DESC, sent.sms_id DESC LIMIT ?`;

export class SqlMessageSearchStore implements MessageSearchStore {
  readonly #session: Session;
  readonly #numberIndex: Dialect['numberIndex'];

  constructor(session: Session, numberIndex: Dialect['numberIndex']) {
    this.#session = session;
    this.#numberIndex = numberIndex;
  }

  async newest({ projectId, phoneNumber, from, to, after, limit }: MessageSearch): Promise<FoundMessages> {
    const end = firstSmsIdAt(to + 1);
    const ids = [firstSmsIdAt(from), after === null || after.smsId > end ? end : after.smsId] as const;
    if (phoneNumber !== null && this.#numberIndex === 'blocks') {
      return this.#inBlocks(phoneNumber, ids, limit);
    }
    const before = after === null ? [to + 1, ''] : [after.createdAt, after.smsId];
    if (projectId === null) {
      return phoneNumber === null
        ? this.#read(OF_ALL, [...ids], limit)
        : this.#read(OF_NUMBER, [phoneNumber, from, ...before, limit], limit);
    }
    return phoneNumber === null
      ? this.#read(OF_PROJECT, [projectId, from, ...before], limit)
      : this.#read(OF_NUMBER_IN_PROJECT, [projectId, phoneNumber, from, ...before, limit], limit);
  }

  /** The limit is the last parameter. */
  async #read(sql: string, parameters: readonly Parameter[], limit: number): Promise<FoundMessages> {
    const rows = (await this.#session.query(sql, [...parameters, limit])).map(fromRow);
    const last = rows.at(-1);
    return { rows, next: last === undefined || rows.length < limit ? null : placeOf(last) };
  }

  async #inBlocks(
    phoneNumber: PhoneNumber,
    [first, end]: readonly [string, string],
    limit: number,
  ): Promise<FoundMessages> {
    // Read once: a block that is closed meanwhile counts as open.
    const [blocks] = await this.#session.query(END_OF_BLOCKS);
    const endOfBlocks = blocks?.end_of_blocks as string;
    const [farthest] = await this.#session.query(END_OF_READ, [first, end]);
    const since = farthest === undefined ? first : (farthest.last_sms_id as string);
    const open = await this.#read(OF_NUMBER_BEHIND_BLOCKS, [endOfBlocks, since, end, phoneNumber], limit);
    if (open.next !== null) return open;
    const parameters = [since, end, endOfBlocks, phoneNumber, since, end];
    const closed = await this.#read(OF_NUMBER_IN_BLOCKS, parameters, limit - open.rows.length);
    const next =
      closed.next ?? (farthest === undefined ? null : { createdAt: smsIdTime(since), smsId: since });
    return { rows: [...open.rows, ...closed.rows], next };
  }
}

function placeOf({ createdAt, smsId }: FoundMessage): MessagePlace {
  return { createdAt, smsId };
}

const readChannels = columnReader<readonly Channel[]>();

function fromRow(row: Row): FoundMessage {
  return {
    smsId: row.sms_id as string,
    projectId: row.project_id as string,
    campaignId: row.campaign_id as string | null,
    phoneNumber: row.phone_number as PhoneNumber,
    channels: readChannels(row.channels as string),
    status: row.status as MessageStatus,
    isFinal: row.is_final === 1,
    cost: money(row.cost as number),
    createdAt: row.created_at as number,
    sentAt: row.sent_at as number | null,
    finalAt: row.final_at as number | null,
    errorReason: row.error_reason as string | null,
  };
}
