import type { SenderIdQuery, SenderIdStore } from '../../../application/ports/stores/catalog-stores.ts';
import type { MobileOperatorPrices } from '../../../domain/billing/pricing.ts';
import type { ManagedSenderId } from '../../../domain/senders/managed-sender-id.ts';
import type { SenderId, SenderIdStatus } from '../../../domain/senders/sender-id.ts';
import type { Insert, Row, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'sender_ids',
  columns: { id: 'text', project_id: 'text', sender_id: 'text', status: 'text', price_per_sms: 'text' },
  orderBy: 'id',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'sender_ids',
  key: { id: 'text' },
  columns: { status: 'text', price_per_sms: 'text' },
  mode: 'set',
} as const satisfies Update<string, string>;

const INSERT_REASONS = {
  table: 'sender_id_reasons',
  columns: { id: 'text', reason: 'text' },
  orderBy: 'id',
} as const satisfies Insert<string>;

const COLUMNS = 'sender_ids.id, project_id, sender_id, status, price_per_sms';
const WITH_REASONS = 'sender_ids LEFT JOIN sender_id_reasons ON sender_id_reasons.id = sender_ids.id';

export class SqlSenderIdStore implements SenderIdStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(senderIds: readonly SenderId[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      senderIds.map(({ id, projectId, senderId, status, pricePerSms }) => ({
        id,
        project_id: projectId,
        sender_id: senderId,
        status,
        price_per_sms: JSON.stringify(pricePerSms),
      })),
    );
  }

  async byProjectIds(projectIds: readonly string[]): Promise<readonly SenderId[]> {
    const rows = await this.#session.query(
      `SELECT ${COLUMNS} FROM sender_ids WHERE project_id = ANY(?) ORDER BY id`,
      [projectIds],
    );
    return rows.map(fromRow);
  }

  async list({ projectId, status, after, limit }: SenderIdQuery): Promise<readonly ManagedSenderId[]> {
    const rows = await this.#session.select((knex) =>
      knex('sender_ids')
        .leftJoin('sender_id_reasons', 'sender_id_reasons.id', 'sender_ids.id')
        .modify((query) => {
          if (projectId !== null) query.where({ project_id: projectId });
          if (status !== null) query.where({ status });
          if (after !== null) query.where('sender_ids.id', '>', after);
        })
        .select('sender_ids.id', 'project_id', 'sender_id', 'status', 'price_per_sms', 'reason')
        .orderBy('sender_ids.id')
        .limit(limit),
    );
    return rows.map(managedFrom);
  }

  async find(projectId: string, idOrName: string): Promise<ManagedSenderId | null> {
    const rows = await this.#session.query(
      `SELECT ${COLUMNS}, reason FROM ${WITH_REASONS}
       WHERE project_id = ? AND (sender_ids.id = ? OR sender_id = ?) ORDER BY sender_ids.id`,
      [projectId, idOrName, idOrName],
    );
    const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
    return row === undefined ? null : managedFrom(row);
  }

  async save(senderIds: readonly ManagedSenderId[]): Promise<void> {
    await this.#session.update(
      SAVE,
      senderIds.map(({ id, status, pricePerSms }) => ({
        id,
        status,
        price_per_sms: JSON.stringify(pricePerSms),
      })),
    );
    await this.#session.execute('DELETE FROM sender_id_reasons WHERE id = ANY(?)', [
      senderIds.map(({ id }) => id),
    ]);
    await this.#session.insert(
      INSERT_REASONS,
      senderIds.flatMap(({ id, reason }) => (reason === null ? [] : [{ id, reason }])),
    );
  }
}

function managedFrom(row: Row): ManagedSenderId {
  return { ...fromRow(row), reason: row.reason as string | null };
}

function fromRow(row: Row): SenderId {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    senderId: row.sender_id as string,
    status: row.status as SenderIdStatus,
    pricePerSms: JSON.parse(row.price_per_sms as string) as MobileOperatorPrices,
  };
}
