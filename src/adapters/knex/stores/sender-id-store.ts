import type { SenderIdStore } from '../../../application/ports/catalog-stores.ts';
import type { OperatorPrices } from '../../../domain/billing/pricing.ts';
import type { SenderId, SenderIdStatus } from '../../../domain/senders/sender-id.ts';
import type { Insert, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'sender_ids',
  columns: { id: 'text', project_id: 'text', sender_id: 'text', status: 'text', price_per_sms: 'text' },
  orderBy: 'id',
} as const satisfies Insert<string>;

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
    const rows = await this.#session.query('SELECT * FROM sender_ids WHERE project_id = ANY(?) ORDER BY id', [
      projectIds,
    ]);
    return rows.map(fromRow);
  }
}

function fromRow(row: Row): SenderId {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    senderId: row.sender_id as string,
    status: row.status as SenderIdStatus,
    pricePerSms: JSON.parse(row.price_per_sms as string) as OperatorPrices,
  };
}
