import type { Knex } from 'knex';
import type { RecipientStore, SavedProgress } from '../../../application/ports/stores/campaign-stores.ts';
import type { AttachedRecipients } from '../../../domain/campaigns/attach-recipients.ts';
import type {
  BillingState,
  Recipient,
  RecipientCosts,
  RecipientProgress,
  RecipientStatus,
} from '../../../domain/campaigns/recipient.ts';
import { type Money, money } from '../../../domain/shared/money.ts';
import { offsetOf, type Page } from '../../../domain/shared/page.ts';
import { ERASED_NUMBER, type PhoneNumber } from '../../../domain/shared/phone-number.ts';
import type { TemplateParameters } from '../../../domain/whatsapp/template-parameters.ts';
import { columnNames, type Insert, type Row, type RowOf, type Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const PROGRESS_COLUMNS = {
  status: 'text',
  final_cost: 'bigint',
  billing_state: 'text',
  error_message: 'text',
  sent_at: 'bigint',
  delivered_at: 'bigint',
  read_at: 'bigint',
  failed_at: 'bigint',
} as const;

/** What a recipient loses when it is anonymised. */
export const ERASED_RECIPIENT_COLUMNS = {
  phone_number: 'text',
  phone_number_as_sent: 'text',
  template_parameters: 'text',
  error_message: 'text',
} as const;

const INSERT = {
  table: 'campaign_recipients',
  columns: {
    id: 'text',
    campaign_id: 'text',
    position: 'bigint',
    phone_number: 'text',
    phone_number_as_sent: 'text',
    template_parameters: 'text',
    estimated_cost: 'bigint',
    ...PROGRESS_COLUMNS,
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

/** What `recipientFromRow` reads. */
export const RECIPIENT_COLUMNS = columnNames(INSERT.columns);

const OF_CAMPAIGN = `SELECT ${RECIPIENT_COLUMNS} FROM campaign_recipients WHERE campaign_id = ? ORDER BY position`;

const ATTACHED_TO = `SELECT phone_number, octet_length(template_parameters) AS parameter_bytes
  FROM campaign_recipients WHERE campaign_id = ?`;

const SAVE_PROGRESS = {
  table: 'campaign_recipients',
  key: { id: 'text' },
  columns: PROGRESS_COLUMNS,
  mode: 'set',
} as const satisfies Update<string, string>;

export class SqlRecipientStore implements RecipientStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(recipients: readonly Recipient[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      recipients.map((recipient) => ({
        id: recipient.id,
        campaign_id: recipient.campaignId,
        position: recipient.position,
        phone_number: recipient.phoneNumber,
        phone_number_as_sent: recipient.phoneNumberAsSent,
        template_parameters: JSON.stringify(recipient.templateParameters),
        estimated_cost: recipient.estimatedCost,
        ...progressColumns(recipient),
      })),
    );
  }

  async ofCampaign(campaignId: string): Promise<readonly Recipient[]> {
    const rows = await this.#session.query(OF_CAMPAIGN, [campaignId]);
    return rows.map(recipientFromRow);
  }

  async attachedTo(campaignId: string): Promise<AttachedRecipients> {
    const rows = await this.#session.query(ATTACHED_TO, [campaignId]);
    return {
      numbers: new Set(rows.map((row) => row.phone_number as PhoneNumber)),
      parameterBytes: rows.reduce((sum, row) => sum + (row.parameter_bytes as number), 0),
    };
  }

  async saveCosts(campaignId: string, { estimatedCost, billingState }: RecipientCosts): Promise<void> {
    await this.#session.execute(
      'UPDATE campaign_recipients SET estimated_cost = ?, billing_state = ? WHERE campaign_id = ?',
      [estimatedCost, billingState, campaignId],
    );
  }

  async saveProgress(saved: readonly SavedProgress[]): Promise<void> {
    await this.#session.update(
      SAVE_PROGRESS,
      saved.map(({ id, progress }) => ({ id, ...progressColumns(progress) })),
    );
  }

  async removeOfCampaigns(campaignIds: readonly string[]): Promise<void> {
    await this.#session.execute('DELETE FROM campaign_recipients WHERE campaign_id = ANY(?)', [campaignIds]);
  }

  async list(
    campaignId: string,
    { status, search }: { readonly status: RecipientStatus | null; readonly search: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly recipients: readonly Recipient[] }> {
    const filtered = (knex: Knex) => {
      const rows = knex('campaign_recipients').where({
        campaign_id: campaignId,
        ...(status === null ? {} : { status }),
      });
      if (search === null) return rows;
      // Digits only: nothing in it has a meaning in a pattern.
      const pattern = `%${search}%`;
      return rows.where((either) =>
        either
          .where('phone_number', 'like', pattern)
          .orWhere((asSent) =>
            asSent
              .where('phone_number_as_sent', 'like', pattern)
              .whereNot('phone_number_as_sent', ERASED_NUMBER),
          ),
      );
    };
    const [counted] = await this.#session.select((knex) => filtered(knex).count({ total: '*' }));
    const rows = await this.#session.select((knex) =>
      filtered(knex)
        .select(Object.keys(INSERT.columns))
        .orderBy('position')
        .limit(page.limit)
        .offset(offsetOf(page)),
    );
    return { total: counted?.total as number, recipients: rows.map(recipientFromRow) };
  }
}

function progressColumns(progress: RecipientProgress): RowOf<keyof typeof PROGRESS_COLUMNS> {
  return {
    status: progress.status,
    final_cost: progress.finalCost,
    billing_state: progress.billingState,
    error_message: progress.errorMessage,
    sent_at: progress.sentAt,
    delivered_at: progress.deliveredAt,
    read_at: progress.readAt,
    failed_at: progress.failedAt,
  };
}

/** The id and `ERASED_RECIPIENT_COLUMNS` of a recipient. */
export function erasedRecipientColumns(
  recipient: Recipient,
): RowOf<'id' | keyof typeof ERASED_RECIPIENT_COLUMNS> {
  return {
    id: recipient.id,
    phone_number: recipient.phoneNumber,
    phone_number_as_sent: recipient.phoneNumberAsSent,
    template_parameters: JSON.stringify(recipient.templateParameters),
    error_message: recipient.errorMessage,
  };
}

/** A recipient of its row. */
export function recipientFromRow(row: Row): Recipient {
  return {
    id: row.id as string,
    campaignId: row.campaign_id as string,
    position: row.position as number,
    phoneNumber: row.phone_number as PhoneNumber,
    phoneNumberAsSent: row.phone_number_as_sent as string,
    templateParameters: JSON.parse(row.template_parameters as string) as TemplateParameters,
    estimatedCost: money(row.estimated_cost as number),
    status: row.status as RecipientStatus,
    finalCost: costOf(row.final_cost as number | null),
    billingState: row.billing_state as BillingState,
    errorMessage: row.error_message as string | null,
    sentAt: row.sent_at as number | null,
    deliveredAt: row.delivered_at as number | null,
    readAt: row.read_at as number | null,
    failedAt: row.failed_at as number | null,
  };
}

function costOf(amount: number | null): Money | null {
  return amount === null ? null : money(amount);
}
