import type { InboundWebhook, InboundWebhookStore } from '../../../application/ports/webhook-stores.ts';
import type { Insert } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const SAVE = {
  table: 'inbound_webhooks',
  columns: { phone_number_id: 'text', project_id: 'text', url: 'text', secret: 'text' },
  orderBy: 'phone_number_id',
  onConflict: `ON CONFLICT (phone_number_id) DO UPDATE
    SET project_id = excluded.project_id, url = excluded.url, secret = excluded.secret`,
} as const satisfies Insert<string>;

export class SqlInboundWebhookStore implements InboundWebhookStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async save(webhooks: readonly InboundWebhook[]): Promise<void> {
    await this.#session.insert(
      SAVE,
      webhooks.map(({ phoneNumberId, projectId, url, secret }) => ({
        phone_number_id: phoneNumberId,
        project_id: projectId,
        url,
        secret,
      })),
    );
  }

  async byPhoneNumberIds(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    if (ids.length === 0) return [];
    const rows = await this.#session.query(
      'SELECT * FROM inbound_webhooks WHERE phone_number_id = ANY(?) ORDER BY phone_number_id',
      [ids],
    );
    return rows.map((row) => ({
      phoneNumberId: row.phone_number_id as string,
      projectId: row.project_id as string,
      url: row.url as string,
      secret: row.secret as string,
    }));
  }
}
