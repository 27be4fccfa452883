import type { InboundWebhookStore } from '../../../application/ports/webhook-stores.ts';
import type { InboundWebhook } from '../../../domain/webhooks/inbound-webhook.ts';
import type { Insert, Row, RowOf } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'inbound_webhooks',
  columns: {
    phone_number_id: 'text',
    project_id: 'text',
    url: 'text',
    secret: 'text',
    next_secret: 'text',
    next_secret_from: 'bigint',
  },
  orderBy: 'phone_number_id',
} as const satisfies Insert<string>;

const SAVE = {
  ...INSERT,
  onConflict: `ON CONFLICT (phone_number_id) DO UPDATE
    SET project_id = excluded.project_id, url = excluded.url, secret = excluded.secret,
      next_secret = excluded.next_secret, next_secret_from = excluded.next_secret_from`,
} as const satisfies Insert<string>;

const BY_PHONE_NUMBER_IDS =
  'SELECT * FROM inbound_webhooks WHERE phone_number_id = ANY(?) ORDER BY phone_number_id';

export class SqlInboundWebhookStore implements InboundWebhookStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(webhooks: readonly InboundWebhook[]): Promise<void> {
    await this.#session.insert(INSERT, webhooks.map(toRow));
  }

  async save(webhooks: readonly InboundWebhook[]): Promise<void> {
    await this.#session.insert(SAVE, webhooks.map(toRow));
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#session.execute('DELETE FROM inbound_webhooks WHERE phone_number_id = ANY(?)', [ids]);
  }

  async byPhoneNumberIds(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    if (ids.length === 0) return [];
    return (await this.#session.query(BY_PHONE_NUMBER_IDS, [ids])).map(fromRow);
  }

  async lock(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    if (ids.length === 0) return [];
    return (await this.#session.query(`${BY_PHONE_NUMBER_IDS} FOR UPDATE`, [ids])).map(fromRow);
  }

  async hold(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    if (ids.length === 0) return [];
    return (await this.#session.query(`${BY_PHONE_NUMBER_IDS} FOR SHARE`, [ids])).map(fromRow);
  }

  async ofProject(
    projectId: string,
    after: string | null,
    limit: number,
  ): Promise<readonly InboundWebhook[]> {
    const rows = await this.#session.query(
      `SELECT * FROM inbound_webhooks WHERE project_id = ? AND phone_number_id > ?
       ORDER BY phone_number_id LIMIT ?`,
      [projectId, after ?? '', limit],
    );
    return rows.map(fromRow);
  }
}

function toRow(webhook: InboundWebhook): RowOf<keyof typeof INSERT.columns> {
  return {
    phone_number_id: webhook.whatsappPhoneId,
    project_id: webhook.projectId,
    url: webhook.url,
    secret: webhook.secret,
    next_secret: webhook.nextSecret,
    next_secret_from: webhook.nextSecretFrom,
  };
}

function fromRow(row: Row): InboundWebhook {
  return {
    whatsappPhoneId: row.phone_number_id as string,
    projectId: row.project_id as string,
    url: row.url as string,
    secret: row.secret as string,
    nextSecret: row.next_secret as string | null,
    nextSecretFrom: row.next_secret_from as number | null,
  };
}
