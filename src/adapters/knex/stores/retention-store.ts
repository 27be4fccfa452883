import type {
  AgedQuery,
  AgedRow,
  EndedWebhook,
  RetentionPlace,
  RetentionStore,
  RetentionSubject,
} from '../../../application/ports/stores/retention-stores.ts';
import type { RetentionAction } from '../../../domain/access/retention.ts';
import type { Campaign } from '../../../domain/campaigns/campaign.ts';
import type { Recipient } from '../../../domain/campaigns/recipient.ts';
import type { Message } from '../../../domain/messages/message.ts';
import type { ReportFilters } from '../../../domain/reports/report.ts';
import { ERASED_NUMBER } from '../../../domain/shared/phone-number.ts';
import type { Insert, Row, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { CAMPAIGN_COLUMNS, campaignFromRow } from './campaign-store.ts';
import { ERASED_COLUMNS, erasedColumns } from './message-store.ts';
import {
  ERASED_RECIPIENT_COLUMNS,
  erasedRecipientColumns,
  RECIPIENT_COLUMNS,
  recipientFromRow,
} from './recipient-store.ts';

const PLACE = {
  table: 'retention_places',
  columns: { project_id: 'text', subject: 'text', action: 'text', created_at: 'bigint', id: 'text' },
  orderBy: 'project_id',
  onConflict: `ON CONFLICT (project_id, subject) DO UPDATE
    SET action = excluded.action, created_at = excluded.created_at, id = excluded.id`,
} as const satisfies Insert<string>;

const WAITING = {
  table: 'retention_waiting',
  columns: { project_id: 'text', sms_id: 'text' },
  orderBy: 'sms_id',
  onConflict: 'ON CONFLICT (project_id, sms_id) DO NOTHING',
} as const satisfies Insert<string>;

const ANONYMISE = {
  table: 'messages',
  key: { sms_id: 'text' },
  columns: ERASED_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

const ANONYMISE_RECIPIENTS = {
  table: 'campaign_recipients',
  key: { id: 'text' },
  columns: ERASED_RECIPIENT_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

const NOTE_ERASED = {
  table: 'campaigns_without_numbers',
  columns: { campaign_id: 'text', erased_at: 'bigint' },
  orderBy: 'campaign_id',
  onConflict: 'ON CONFLICT (campaign_id) DO NOTHING',
} as const satisfies Insert<string>;

const ERASE_FILTERS = {
  table: 'reports',
  key: { id: 'text' },
  columns: { filters: 'text' },
  mode: 'set',
} as const satisfies Update<string, string>;

const CAMPAIGNS = `SELECT ${CAMPAIGN_COLUMNS} FROM campaigns WHERE id = ANY(?) ORDER BY id`;

const RECIPIENTS_AT = `
  SELECT ${RECIPIENT_COLUMNS} FROM campaign_recipients WHERE campaign_id = ? AND position >= ? AND position < ?
  ORDER BY id FOR UPDATE`;

const LEFT_OUT = `
  SELECT 1 FROM (
    SELECT sms_id, phone_number FROM messages WHERE project_id = ? AND (created_at, sms_id) <= (?, ?)
    ORDER BY project_id, created_at, sms_id LIMIT 1
  ) AS first
  WHERE phone_number <> ?
    AND NOT EXISTS (SELECT 1 FROM retention_waiting WHERE project_id = ? AND retention_waiting.sms_id = first.sms_id)`;

/** Before every id, and before every instant. */
const BEFORE_ALL = { createdAt: -1, id: '' };

export class SqlRetentionStore implements RetentionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async place(projectId: string, subject: RetentionSubject): Promise<RetentionPlace | null> {
    const [row] = await this.#session.query(
      'SELECT action, created_at, id FROM retention_places WHERE project_id = ? AND subject = ? FOR UPDATE',
      [projectId, subject],
    );
    if (row === undefined) return null;
    return { projectId, subject, action: row.action as RetentionAction, ...agedFrom(row) };
  }

  async savePlace({ projectId, subject, action, createdAt, id }: RetentionPlace): Promise<void> {
    await this.#session.insert(PLACE, [
      { project_id: projectId, subject, action, created_at: createdAt, id },
    ]);
  }

  async hasLeftOut({ projectId, createdAt, id }: RetentionPlace): Promise<boolean> {
    const rows = await this.#session.query(LEFT_OUT, [projectId, createdAt, id, ERASED_NUMBER, projectId]);
    return rows.length > 0;
  }

  async agedMessages({ projectId, before, after, limit }: AgedQuery): Promise<readonly AgedRow[]> {
    const { createdAt, id } = after ?? BEFORE_ALL;
    const rows = await this.#session.query(
      `SELECT sms_id AS id, created_at FROM messages
       WHERE project_id = ? AND (created_at, sms_id) > (?, ?) AND created_at < ?
       ORDER BY project_id, created_at, sms_id LIMIT ?`,
      [projectId, createdAt, id, before, limit],
    );
    return rows.map(agedFrom);
  }

  async waiting(projectId: string, after: string | null, limit: number): Promise<readonly string[]> {
    const rows = await this.#session.query(
      'SELECT sms_id FROM retention_waiting WHERE project_id = ? AND sms_id > ? ORDER BY sms_id LIMIT ?',
      [projectId, after ?? '', limit],
    );
    return rows.map((row) => row.sms_id as string);
  }

  async addWaiting(projectId: string, smsIds: readonly string[]): Promise<void> {
    await this.#session.insert(
      WAITING,
      smsIds.map((smsId) => ({ project_id: projectId, sms_id: smsId })),
    );
  }

  async removeWaiting(projectId: string, smsIds: readonly string[]): Promise<void> {
    if (smsIds.length === 0) return;
    await this.#session.execute('DELETE FROM retention_waiting WHERE project_id = ? AND sms_id = ANY(?)', [
      projectId,
      smsIds,
    ]);
  }

  async anonymiseMessages(messages: readonly Message[]): Promise<void> {
    await this.#session.update(ANONYMISE, messages.map(erasedColumns));
  }

  async removeMessages(smsIds: readonly string[]): Promise<void> {
    if (smsIds.length === 0) return;
    await this.#session.execute('DELETE FROM messages WHERE sms_id = ANY(?)', [smsIds]);
  }

  async withOpenWebhook(smsIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#session.query(
      'SELECT ordering_key FROM webhook_events WHERE ordering_key = ANY(?) AND is_open = 1',
      [smsIds],
    );
    return new Set(rows.map((row) => row.ordering_key as string));
  }

  async campaigns(ids: readonly string[]): Promise<readonly Campaign[]> {
    if (ids.length === 0) return [];
    const rows = await this.#session.query(CAMPAIGNS, [ids]);
    return rows.map(campaignFromRow);
  }

  async endedCampaigns({ projectId, before, after, limit }: AgedQuery): Promise<readonly Campaign[]> {
    const { createdAt, id } = after ?? BEFORE_ALL;
    const rows = await this.#session.query(
      `SELECT ${CAMPAIGN_COLUMNS} FROM campaigns
       WHERE project_id = ? AND (completed_at, id) > (?, ?) AND completed_at < ?
         AND completed_at IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM campaigns_without_numbers WHERE campaign_id = campaigns.id)
       ORDER BY project_id, completed_at, id LIMIT ?`,
      [projectId, createdAt, id, before, limit],
    );
    return rows.map(campaignFromRow);
  }

  async recipientsAt(campaignId: string, from: number, to: number): Promise<readonly Recipient[]> {
    const rows = await this.#session.query(RECIPIENTS_AT, [campaignId, from, to]);
    return rows.map(recipientFromRow);
  }

  async anonymiseRecipients(recipients: readonly Recipient[]): Promise<void> {
    await this.#session.update(ANONYMISE_RECIPIENTS, recipients.map(erasedRecipientColumns));
  }

  async noteErased(campaignIds: readonly string[], at: number): Promise<void> {
    await this.#session.insert(
      NOTE_ERASED,
      campaignIds.map((campaignId) => ({ campaign_id: campaignId, erased_at: at })),
    );
  }

  async agedReports({ projectId, before, after, limit }: AgedQuery): Promise<readonly AgedRow[]> {
    const { createdAt, id } = after ?? BEFORE_ALL;
    const rows = await this.#session.query(
      `SELECT id, created_at FROM reports
       WHERE project_id = ? AND created_at >= ? AND (created_at, id) > (?, ?) AND created_at < ?
       ORDER BY created_at, id LIMIT ?`,
      [projectId, createdAt, createdAt, id, before, limit],
    );
    return rows.map(agedFrom);
  }

  async eraseReportFilters(reportIds: readonly string[]): Promise<void> {
    const rows = await this.#session.query(
      'SELECT id, filters FROM reports WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [reportIds],
    );
    await this.#session.update(
      ERASE_FILTERS,
      rows.map((row) => {
        const filters = JSON.parse(row.filters as string) as ReportFilters;
        return { id: row.id as string, filters: JSON.stringify({ ...filters, phoneNumbers: [] }) };
      }),
    );
  }

  async endedWebhooks({
    before,
    after,
    limit,
  }: Omit<AgedQuery, 'projectId'>): Promise<readonly EndedWebhook[]> {
    const { createdAt, id } = after ?? BEFORE_ALL;
    const rows = await this.#session.query(
      `SELECT id, project_id, created_at FROM webhook_events
       WHERE is_open = 0 AND created_at >= ? AND (created_at, id) > (?, ?) AND created_at < ?
       ORDER BY created_at, id LIMIT ?`,
      [createdAt, createdAt, id, before, limit],
    );
    return rows.map((row) => ({ ...agedFrom(row), projectId: row.project_id as string }));
  }

  async removeWebhooks(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const rows = await this.#session.query(
      'SELECT id, ordering_key FROM webhook_events WHERE id = ANY(?) AND is_open = 0 ORDER BY id FOR UPDATE',
      [ids],
    );
    const ended = rows.map((row) => row.id as string);
    await this.#session.execute(
      'DELETE FROM webhook_attempts WHERE ordering_key = ANY(?) AND event_id = ANY(?)',
      [rows.map((row) => row.ordering_key as string), ended],
    );
    await this.#session.execute('DELETE FROM webhook_events WHERE id = ANY(?)', [ended]);
  }
}

function agedFrom(row: Row): AgedRow {
  return { id: row.id as string, createdAt: row.created_at as number };
}
