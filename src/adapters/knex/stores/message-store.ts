import type {
  AcceptedAtQuery,
  MessageStore,
  ReportedQuery,
} from '../../../application/ports/stores/message-store.ts';
import type { ChannelPrices } from '../../../domain/billing/pricing.ts';
import type { SettlementRule } from '../../../domain/billing/settlement.ts';
import { SINGLE_MESSAGE_PRIORITIES } from '../../../domain/jobs/job-priority.ts';
import { type ChannelAttempt, type Message, SMS_ID_PREFIX } from '../../../domain/messages/message.ts';
import type { MessageStatus } from '../../../domain/messages/message-status.ts';
import type { Content, DeliveryReport, WhatsappSender } from '../../../domain/messages/send-request.ts';
import type { ReportedMessage } from '../../../domain/reports/report-row.ts';
import type { Channel } from '../../../domain/shared/channel.ts';
import { HEX_ID_CHARACTERS } from '../../../domain/shared/hex-id.ts';
import { money } from '../../../domain/shared/money.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';
import { columnNames, type Insert, type Row, type RowOf, type Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { columnReader } from './column-reader.ts';
import { RANKS } from './job-ranks.ts';

/** What changes while a message is on its way. */
const OPEN_COLUMNS = {
  attempts: 'text',
  status: 'text',
  sent_at: 'bigint',
  error_reason: 'text',
} as const;

const CHANGING_COLUMNS = {
  ...OPEN_COLUMNS,
  content: 'text',
  is_final: 'bigint',
  final_at: 'bigint',
} as const;

/** What a message loses when it is anonymised. */
export const ERASED_COLUMNS = {
  phone_number: 'text',
  phone_number_as_sent: 'text',
  whatsapp_sender: 'text',
  content: 'text',
  attempts: 'text',
  delivery_report: 'text',
  error_reason: 'text',
} as const;

const INSERT = {
  table: 'messages',
  columns: {
    sms_id: 'text',
    project_id: 'text',
    phone_number: 'text',
    phone_number_as_sent: 'text',
    sender_id: 'text',
    whatsapp_sender: 'text',
    channels: 'text',
    cost: 'bigint',
    prices: 'text',
    settlement: 'text',
    attempt_timeout_ms: 'bigint',
    delivery_report: 'text',
    campaign_id: 'text',
    created_at: 'bigint',
    ...CHANGING_COLUMNS,
  },
  orderBy: 'sms_id',
} as const satisfies Insert<string>;

/** What `fromRow` reads. */
const COLUMNS = columnNames(INSERT.columns);

const LOCK = `SELECT ${COLUMNS} FROM messages WHERE sms_id = ANY(?) ORDER BY sms_id FOR UPDATE`;

const FIND = `SELECT ${COLUMNS} FROM messages WHERE sms_id = ? AND project_id = ?`;

const SAVE_OPEN = {
  table: 'messages',
  key: { sms_id: 'text' },
  columns: OPEN_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

const SAVE_FINAL = { ...SAVE_OPEN, columns: CHANGING_COLUMNS } as const satisfies Update<string, string>;

const SINGLE_RANKS = SINGLE_MESSAGE_PRIORITIES.map((priority) => RANKS[priority]).join(', ');
const SMS_ID_CHARACTERS = SMS_ID_PREFIX.length + HEX_ID_CHARACTERS;

/** One search of an index for each project. */
const NEWEST_AT = `
  SELECT MAX(newest) AS newest FROM (
    SELECT (SELECT created_at FROM messages WHERE project_id = projects.id
            ORDER BY project_id DESC, created_at DESC, sms_id DESC LIMIT 1) AS newest
    FROM projects) AS newest_of_projects`;

/** One range of an index for each project; the join keeps its order on SQLite. */
const OPEN_SINCE = `
  SELECT sms_id FROM projects CROSS JOIN messages
  WHERE messages.project_id = projects.id AND messages.created_at > ? AND messages.is_final = 0`;

/** `sms-` and 24 hex characters begin the id of a message's job. Each part of the union fits an index of jobs. */
const SENDERS_OF_OPEN = `
  SELECT DISTINCT whatsapp_sender FROM (
    SELECT id FROM jobs WHERE is_available = 1 AND priority IN (${SINGLE_RANKS}) AND project_id = ?
    UNION ALL
    SELECT id FROM jobs WHERE is_available = 0 AND priority IN (${SINGLE_RANKS}) AND project_id = ?
    UNION ALL
    SELECT id FROM dead_letter_jobs WHERE project_id = ?) AS open_jobs
  JOIN messages ON messages.sms_id = substr(open_jobs.id, 1, ${SMS_ID_CHARACTERS})
  WHERE whatsapp_sender <> '{}' AND is_final = 0`;

export class SqlMessageStore implements MessageStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(messages: readonly Message[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      // Not two spreads in one literal: they make a slow object of it, ten times the cost of the rest.
      messages.map((message) => Object.assign(unchangingColumns(message), changingColumns(message))),
    );
  }

  async lock(smsIds: readonly string[]): Promise<readonly Message[]> {
    const rows = await this.#session.query(LOCK, [smsIds]);
    return rows.map(fromRow);
  }

  async save(messages: readonly Message[]): Promise<void> {
    const open = messages.filter(({ isFinal }) => !isFinal);
    const final = messages.filter(({ isFinal }) => isFinal);
    await Promise.all([
      this.#session.update(
        SAVE_OPEN,
        open.map((message) => ({ sms_id: message.smsId, ...openColumns(message) })),
      ),
      this.#session.update(
        SAVE_FINAL,
        final.map((message) => ({ sms_id: message.smsId, ...changingColumns(message) })),
      ),
    ]);
  }

  async find(projectId: string, smsId: string): Promise<Message | null> {
    const [row] = await this.#session.query(FIND, [smsId, projectId]);
    return row === undefined ? null : fromRow(row);
  }

  async projectIdsOf(smsIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#session.query('SELECT sms_id, project_id FROM messages WHERE sms_id = ANY(?)', [
      smsIds,
    ]);
    return new Map(rows.map((row) => [row.sms_id as string, row.project_id as string]));
  }

  acceptedAt(queries: readonly AcceptedAtQuery[]): Promise<readonly (readonly number[])[]> {
    return this.#session.acceptedAt(queries);
  }

  async sendersOfOpen(projectId: string): Promise<readonly WhatsappSender[]> {
    const rows = await this.#session.query(SENDERS_OF_OPEN, [projectId, projectId, projectId]);
    return rows.map((row) => readWhatsappSender(row.whatsapp_sender as string));
  }

  async newestAt(): Promise<number | null> {
    const [row] = await this.#session.query(NEWEST_AT, []);
    return (row?.newest ?? null) as number | null;
  }

  async openSince(after: number): Promise<readonly string[]> {
    const rows = await this.#session.query(OPEN_SINCE, [after]);
    return rows.map((row) => row.sms_id as string);
  }

  async reported({ projectId, from, to, after, limit }: ReportedQuery): Promise<readonly ReportedMessage[]> {
    // One range only: of two, SQLite would begin at the wider one with each page.
    const { createdAt, smsId } = after ?? { createdAt: from, smsId: '' };
    const rows = await this.#session.query(
      `SELECT sms_id, campaign_id, phone_number, phone_number_as_sent, sender_id, status, is_final, cost, content,
         created_at, sent_at, error_reason
       FROM messages
       WHERE project_id = ? AND (created_at, sms_id) > (?, ?) AND created_at <= ?
       ORDER BY project_id, created_at, sms_id LIMIT ?`,
      [projectId, createdAt, smsId, to, limit],
    );
    return rows.map(reportedFrom);
  }
}

function reportedFrom(row: Row): ReportedMessage {
  return {
    smsId: row.sms_id as string,
    campaignId: row.campaign_id as string | null,
    phoneNumber: row.phone_number as PhoneNumber,
    phoneNumberAsSent: (row.phone_number_as_sent ?? row.phone_number) as string,
    senderId: row.sender_id as string | null,
    smsType: (JSON.parse(row.content as string) as Content).smsType,
    status: row.status as MessageStatus,
    isFinal: row.is_final === 1,
    cost: money(row.cost as number),
    createdAt: row.created_at as number,
    sentAt: row.sent_at as number | null,
    errorReason: row.error_reason as string | null,
  };
}

function unchangingColumns(
  message: Message,
): RowOf<Exclude<keyof typeof INSERT.columns, keyof typeof CHANGING_COLUMNS>> {
  return {
    sms_id: message.smsId,
    project_id: message.projectId,
    phone_number: message.phoneNumber,
    phone_number_as_sent:
      message.phoneNumberAsSent === message.phoneNumber ? null : message.phoneNumberAsSent,
    sender_id: message.senderId,
    whatsapp_sender: writeWhatsappSender(message.whatsappSender),
    channels: JSON.stringify(message.channels),
    cost: message.cost,
    prices: JSON.stringify(message.prices),
    settlement: message.settlement,
    attempt_timeout_ms: message.attemptTimeoutMs,
    delivery_report: message.deliveryReport === null ? null : JSON.stringify(message.deliveryReport),
    campaign_id: message.campaignId,
    created_at: message.createdAt,
  };
}

function openColumns(message: Message): RowOf<keyof typeof OPEN_COLUMNS> {
  return {
    attempts: JSON.stringify(message.attempts),
    status: message.status,
    sent_at: message.sentAt,
    error_reason: message.errorReason,
  };
}

function changingColumns(message: Message): RowOf<keyof typeof CHANGING_COLUMNS> {
  return Object.assign(openColumns(message), {
    content: JSON.stringify(message.content),
    is_final: message.isFinal ? 1 : 0,
    final_at: message.finalAt,
  });
}

/** The id and `ERASED_COLUMNS` of a message. */
export function erasedColumns(message: Message): RowOf<'sms_id' | keyof typeof ERASED_COLUMNS> {
  const { attempts, error_reason, content } = changingColumns(message);
  const { sms_id, phone_number, phone_number_as_sent, whatsapp_sender, delivery_report } =
    unchangingColumns(message);
  return {
    sms_id,
    phone_number,
    phone_number_as_sent,
    whatsapp_sender,
    content,
    attempts,
    delivery_report,
    error_reason,
  };
}

const NO_WHATSAPP_SENDER: WhatsappSender = { accountId: null, phoneId: null, templateName: null };
const NO_WHATSAPP_SENDER_TEXT = '{}';

/** Most messages name no sender: their column says so in two characters. */
function writeWhatsappSender(sender: WhatsappSender): string {
  const { accountId, phoneId, templateName } = sender;
  const isEmpty = accountId === null && phoneId === null && templateName === null;
  return isEmpty ? NO_WHATSAPP_SENDER_TEXT : JSON.stringify(sender);
}

function readWhatsappSender(text: string): WhatsappSender {
  return text === NO_WHATSAPP_SENDER_TEXT ? NO_WHATSAPP_SENDER : parseWhatsappSender(text);
}

const parseWhatsappSender = columnReader<WhatsappSender>();
const readChannels = columnReader<readonly Channel[]>();
const readPrices = columnReader<ChannelPrices>();

function fromRow(row: Row): Message {
  const deliveryReport = row.delivery_report as string | null;
  return {
    smsId: row.sms_id as string,
    projectId: row.project_id as string,
    campaignId: row.campaign_id as string | null,
    phoneNumber: row.phone_number as PhoneNumber,
    phoneNumberAsSent: (row.phone_number_as_sent ?? row.phone_number) as string,
    senderId: row.sender_id as string | null,
    whatsappSender: readWhatsappSender(row.whatsapp_sender as string),
    content: JSON.parse(row.content as string) as Content,
    channels: readChannels(row.channels as string),
    attempts: JSON.parse(row.attempts as string) as readonly ChannelAttempt[],
    status: row.status as MessageStatus,
    isFinal: row.is_final === 1,
    cost: money(row.cost as number),
    prices: readPrices(row.prices as string),
    settlement: row.settlement as SettlementRule,
    attemptTimeoutMs: row.attempt_timeout_ms as number,
    deliveryReport: deliveryReport === null ? null : (JSON.parse(deliveryReport) as DeliveryReport),
    createdAt: row.created_at as number,
    sentAt: row.sent_at as number | null,
    finalAt: row.final_at as number | null,
    errorReason: row.error_reason as string | null,
  };
}
