import type { InboundWebhookStore } from '../../../application/ports/stores/webhook-stores.ts';
import type { SealedSecret } from '../../../domain/shared/sealed-secret.ts';
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
  },
  orderBy: 'phone_number_id',
} as const satisfies Insert<string>;

const SAVE = {
  ...INSERT,
  onConflict: `ON CONFLICT (phone_number_id) DO UPDATE
    SET project_id = excluded.project_id, url = excluded.url, secret = excluded.secret`,
} as const satisfies Insert<string>;

const INSERT_ROTATIONS = {
  table: 'inbound_webhook_rotations',
  columns: { phone_number_id: 'text', next_secret: 'text', next_secret_from: 'bigint' },
  orderBy: 'phone_number_id',
} as const satisfies Insert<string>;

const WITH_ROTATIONS = `
  SELECT webhooks.phone_number_id, project_id, url, secret, next_secret, next_secret_from
  FROM inbound_webhooks AS webhooks
  LEFT JOIN inbound_webhook_rotations AS rotations ON rotations.phone_number_id = webhooks.phone_number_id`;
const BY_PHONE_NUMBER_IDS = `${WITH_ROTATIONS}
  WHERE webhooks.phone_number_id = ANY(?) ORDER BY webhooks.phone_number_id`;
const LOCK =
  'SELECT phone_number_id FROM inbound_webhooks WHERE phone_number_id = ANY(?) ORDER BY phone_number_id';

export class SqlInboundWebhookStore implements InboundWebhookStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(webhooks: readonly InboundWebhook[]): Promise<void> {
    await this.#session.insert(INSERT, webhooks.map(toRow));
    await this.#saveRotations(webhooks);
  }

  async save(webhooks: readonly InboundWebhook[]): Promise<void> {
    await this.#session.insert(SAVE, webhooks.map(toRow));
    await this.#saveRotations(webhooks);
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#session.execute('DELETE FROM inbound_webhooks WHERE phone_number_id = ANY(?)', [ids]);
    await this.#removeRotations(ids);
  }

  async byWhatsappPhoneIds(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    if (ids.length === 0) return [];
    return (await this.#session.query(BY_PHONE_NUMBER_IDS, [ids])).map(fromRow);
  }

  async lock(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    return this.#locked('FOR UPDATE', ids);
  }

  async lockShared(ids: readonly string[]): Promise<readonly InboundWebhook[]> {
    return this.#locked('FOR SHARE', ids);
  }

  async ofProject(
    projectId: string,
    after: string | null,
    limit: number,
  ): Promise<readonly InboundWebhook[]> {
    const rows = await this.#session.query(
      `${WITH_ROTATIONS} WHERE project_id = ? AND webhooks.phone_number_id > ?
       ORDER BY webhooks.phone_number_id LIMIT ?`,
      [projectId, after ?? '', limit],
    );
    return rows.map(fromRow);
  }

  async #locked(
    mode: 'FOR UPDATE' | 'FOR SHARE',
    ids: readonly string[],
  ): Promise<readonly InboundWebhook[]> {
    if (ids.length === 0) return [];
    const locked = await this.#session.query(`${LOCK} ${mode}`, [ids]);
    // The rows as they are under the lock, with their rotations.
    return this.byWhatsappPhoneIds(locked.map((row) => row.phone_number_id as string));
  }

  async #saveRotations(webhooks: readonly InboundWebhook[]): Promise<void> {
    await this.#removeRotations(webhooks.map(({ whatsappPhoneId }) => whatsappPhoneId));
    await this.#session.insert(
      INSERT_ROTATIONS,
      webhooks.flatMap(({ whatsappPhoneId, nextSecret, nextSecretFrom }) =>
        nextSecret === null || nextSecretFrom === null
          ? []
          : [{ phone_number_id: whatsappPhoneId, next_secret: nextSecret, next_secret_from: nextSecretFrom }],
      ),
    );
  }

  async #removeRotations(ids: readonly string[]): Promise<void> {
    await this.#session.execute('DELETE FROM inbound_webhook_rotations WHERE phone_number_id = ANY(?)', [
      ids,
    ]);
  }
}

function toRow(webhook: InboundWebhook): RowOf<keyof typeof INSERT.columns> {
  return {
    phone_number_id: webhook.whatsappPhoneId,
    project_id: webhook.projectId,
    url: webhook.url,
    secret: webhook.secret,
  };
}

function fromRow(row: Row): InboundWebhook {
  return {
    whatsappPhoneId: row.phone_number_id as string,
    projectId: row.project_id as string,
    url: row.url as string,
    secret: row.secret as SealedSecret,
    nextSecret: row.next_secret as SealedSecret | null,
    nextSecretFrom: row.next_secret_from as number | null,
  };
}
