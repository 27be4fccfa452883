import type { Knex } from 'knex';
import type { CampaignStore } from '../../../application/ports/stores/campaign-stores.ts';
import { type LedgerEntry, ledgerEntryId } from '../../../domain/billing/ledger.ts';
import type { Campaign, CampaignCategory, CampaignStatus } from '../../../domain/campaigns/campaign.ts';
import type { CampaignSums } from '../../../domain/campaigns/campaign-sums.ts';
import { SMS_ID_PREFIX } from '../../../domain/messages/message.ts';
import { money } from '../../../domain/shared/money.ts';
import { offsetOf, type Page } from '../../../domain/shared/page.ts';
import { columnNames, type Insert, type Row, type RowOf, type Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const CHANGING_COLUMNS = {
  name: 'text',
  category: 'text',
  template_id: 'text',
  phone_number_id: 'text',
  status: 'text',
  scheduled_for: 'bigint',
  started_at: 'bigint',
  completed_at: 'bigint',
  total_recipients: 'bigint',
  sent_count: 'bigint',
  delivered_count: 'bigint',
  failed_count: 'bigint',
  estimated_cost: 'bigint',
  reserved: 'bigint',
  captured: 'bigint',
  released: 'bigint',
  failure_reason: 'text',
  updated_at: 'bigint',
} as const;

const INSERT = {
  table: 'campaigns',
  columns: {
    id: 'text',
    project_id: 'text',
    sample_of: 'text',
    created_at: 'bigint',
    ...CHANGING_COLUMNS,
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

/** What `campaignFromRow` reads. */
export const CAMPAIGN_COLUMNS = columnNames(INSERT.columns);

const SAVE = {
  table: 'campaigns',
  key: { id: 'text' },
  columns: CHANGING_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

const LOCK = `SELECT ${CAMPAIGN_COLUMNS} FROM campaigns WHERE id = ANY(?) ORDER BY id FOR UPDATE`;

/** Each part of the union has an index of its own. */
const UNSTARTED = `
  SELECT total_recipients FROM campaigns WHERE project_id = ? AND status IN ('draft', 'scheduled')
  UNION ALL
  SELECT total_recipients FROM campaigns
  WHERE project_id = ? AND status = 'failed' AND started_at IS NULL AND completed_at > ?`;

const LOCK_SCHEDULED = `
  SELECT ${CAMPAIGN_COLUMNS} FROM campaigns WHERE status = 'scheduled' ORDER BY id FOR UPDATE`;

const FIND = `SELECT ${CAMPAIGN_COLUMNS} FROM campaigns WHERE id = ? AND project_id = ?`;

const LOCK_OF = `${FIND} FOR UPDATE`;

const SAMPLES_OF = `
  SELECT ${CAMPAIGN_COLUMNS} FROM campaigns WHERE sample_of = ? AND project_id = ? ORDER BY id DESC LIMIT ?`;

/** The id of a ledger entry of a recipient in SQL: that of an entry of its message. */
const entryIdOf = (kind: LedgerEntry['kind']) =>
  `'${SMS_ID_PREFIX}' || recipients.id || '${ledgerEntryId('', kind)}'`;

const AUDIT = `
  SELECT campaigns.id, campaigns.total_recipients, campaigns.sent_count, campaigns.delivered_count,
    campaigns.failed_count, campaigns.estimated_cost, campaigns.reserved, campaigns.captured, campaigns.released,
    COALESCE(sums.total, 0) AS r_total_recipients,
    COALESCE(sums.sent, 0) AS r_sent_count,
    COALESCE(sums.delivered, 0) AS r_delivered_count,
    COALESCE(sums.failed, 0) AS r_failed_count,
    COALESCE(sums.estimated, 0) AS r_estimated_cost,
    COALESCE(sums.reserved, 0) AS r_reserved,
    COALESCE(sums.captured, 0) AS r_captured,
    COALESCE(sums.released, 0) AS r_released
  FROM campaigns
  LEFT JOIN (
    SELECT recipients.campaign_id,
      COUNT(*) AS total,
      SUM(CASE WHEN recipients.status IN ('sent', 'delivered', 'read') THEN 1 ELSE 0 END) AS sent,
      SUM(CASE WHEN recipients.status IN ('delivered', 'read') THEN 1 ELSE 0 END) AS delivered,
      SUM(CASE WHEN recipients.status = 'failed' THEN 1 ELSE 0 END) AS failed,
      CAST(SUM(recipients.estimated_cost) AS bigint) AS estimated,
      CAST(SUM(COALESCE(holds.held_delta, 0)) AS bigint) AS reserved,
      CAST(SUM(COALESCE(settlements.spent_delta, 0)) AS bigint) AS captured,
      CAST(SUM(COALESCE(-settlements.held_delta - settlements.spent_delta, 0)) AS bigint) AS released
    FROM campaign_recipients AS recipients
    LEFT JOIN ledger_entries AS holds ON holds.id = ${entryIdOf('hold')}
    LEFT JOIN ledger_entries AS settlements ON settlements.id = ${entryIdOf('settlement')}
    GROUP BY recipients.campaign_id
  ) AS sums ON sums.campaign_id = campaigns.id
  ORDER BY campaigns.id`;

export class SqlCampaignStore implements CampaignStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(campaigns: readonly Campaign[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      campaigns.map((campaign) => ({
        id: campaign.id,
        project_id: campaign.projectId,
        sample_of: campaign.sampleOf,
        created_at: campaign.createdAt,
        ...changingColumns(campaign),
      })),
    );
  }

  async lock(ids: readonly string[]): Promise<readonly Campaign[]> {
    const rows = await this.#session.query(LOCK, [ids]);
    return rows.map(campaignFromRow);
  }

  async lockOf(projectId: string, id: string): Promise<Campaign | null> {
    const [row] = await this.#session.query(LOCK_OF, [id, projectId]);
    return row === undefined ? null : campaignFromRow(row);
  }

  async save(campaigns: readonly Campaign[]): Promise<void> {
    await this.#session.update(
      SAVE,
      campaigns.map((campaign) => ({ id: campaign.id, ...changingColumns(campaign) })),
    );
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#session.execute('DELETE FROM campaigns WHERE id = ANY(?)', [ids]);
  }

  async find(projectId: string, id: string): Promise<Campaign | null> {
    const [row] = await this.#session.query(FIND, [id, projectId]);
    return row === undefined ? null : campaignFromRow(row);
  }

  async list(
    projectId: string,
    { status }: { readonly status: CampaignStatus | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly campaigns: readonly Campaign[] }> {
    const filtered = (knex: Knex) =>
      knex('campaigns').where({ project_id: projectId, ...(status === null ? {} : { status }) });
    const [counted] = await this.#session.select((knex) => filtered(knex).count({ total: '*' }));
    const rows = await this.#session.select((knex) =>
      filtered(knex)
        .select(Object.keys(INSERT.columns))
        .orderBy('id', 'desc')
        .limit(page.limit)
        .offset(offsetOf(page)),
    );
    return { total: counted?.total as number, campaigns: rows.map(campaignFromRow) };
  }

  async lockScheduled(): Promise<readonly Campaign[]> {
    const rows = await this.#session.query(LOCK_SCHEDULED);
    return rows.map(campaignFromRow);
  }

  async sendersOfOpen(
    projectId: string,
  ): Promise<readonly Pick<Campaign, 'templateId' | 'whatsappPhoneId'>[]> {
    const rows = await this.#session.query(
      `SELECT DISTINCT template_id, phone_number_id FROM campaigns
       WHERE project_id = ? AND status IN ('draft', 'scheduled', 'running')`,
      [projectId],
    );
    return rows.map((row) => ({
      templateId: row.template_id as string,
      whatsappPhoneId: row.phone_number_id as string,
    }));
  }

  async countUnstarted(projectId: string, failedAfter: number, max: number): Promise<number> {
    const [row] = await this.#session.query(
      `SELECT COUNT(*) AS count FROM (${UNSTARTED} LIMIT ?) AS unstarted`,
      [projectId, projectId, failedAfter, max],
    );
    return row?.count as number;
  }

  async countUnstartedRecipients(projectId: string, failedAfter: number): Promise<number> {
    const [row] = await this.#session.query(
      `SELECT CAST(COALESCE(SUM(total_recipients), 0) AS bigint) AS count FROM (${UNSTARTED}) AS unstarted`,
      [projectId, projectId, failedAfter],
    );
    return row?.count as number;
  }

  async audit(): ReturnType<CampaignStore['audit']> {
    const rows = await this.#session.query(AUDIT);
    return rows.map((row) => ({
      id: row.id as string,
      campaign: sumsFrom(row, ''),
      recipients: sumsFrom(row, 'r_'),
    }));
  }

  async samplesOf(projectId: string, id: string, limit: number): Promise<readonly Campaign[]> {
    const rows = await this.#session.query(SAMPLES_OF, [id, projectId, limit]);
    return rows.map(campaignFromRow);
  }
}

function changingColumns(campaign: Campaign): RowOf<keyof typeof CHANGING_COLUMNS> {
  return {
    name: campaign.name,
    category: campaign.category,
    template_id: campaign.templateId,
    phone_number_id: campaign.whatsappPhoneId,
    status: campaign.status,
    scheduled_for: campaign.scheduledFor,
    started_at: campaign.startedAt,
    completed_at: campaign.completedAt,
    total_recipients: campaign.totalRecipients,
    sent_count: campaign.sentCount,
    delivered_count: campaign.deliveredCount,
    failed_count: campaign.failedCount,
    estimated_cost: campaign.estimatedCost,
    reserved: campaign.reserved,
    captured: campaign.captured,
    released: campaign.released,
    failure_reason: campaign.failureReason,
    updated_at: campaign.updatedAt,
  };
}

/** A campaign of its row. */
export function campaignFromRow(row: Row): Campaign {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    name: row.name as string,
    category: row.category as CampaignCategory,
    templateId: row.template_id as string,
    whatsappPhoneId: row.phone_number_id as string,
    status: row.status as CampaignStatus,
    scheduledFor: row.scheduled_for as number | null,
    startedAt: row.started_at as number | null,
    completedAt: row.completed_at as number | null,
    totalRecipients: row.total_recipients as number,
    sentCount: row.sent_count as number,
    deliveredCount: row.delivered_count as number,
    failedCount: row.failed_count as number,
    estimatedCost: money(row.estimated_cost as number),
    reserved: money(row.reserved as number),
    captured: money(row.captured as number),
    released: money(row.released as number),
    failureReason: row.failure_reason as string | null,
    sampleOf: row.sample_of as string | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  };
}

function sumsFrom(row: Row, prefix: string): CampaignSums {
  const column = (name: string) => row[prefix + name] as number;
  return {
    totalRecipients: column('total_recipients'),
    sentCount: column('sent_count'),
    deliveredCount: column('delivered_count'),
    failedCount: column('failed_count'),
    estimatedCost: money(column('estimated_cost')),
    reserved: money(column('reserved')),
    captured: money(column('captured')),
    released: money(column('released')),
  };
}
