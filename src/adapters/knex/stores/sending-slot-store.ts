import type { SendingSlotStore } from '../../../application/ports/stores/campaign-stores.ts';
import { NO_SLOTS, type TakenSlots } from '../../../domain/campaigns/sending-rate.ts';
import type { Insert, Row, RowOf } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const COLUMNS = { phone_number_id: 'text', free_at: 'bigint', saved_at: 'bigint' } as const;

const MAKE = {
  table: 'sending_slots',
  columns: COLUMNS,
  orderBy: 'phone_number_id',
  onConflict: 'ON CONFLICT (phone_number_id) DO NOTHING',
} as const satisfies Insert<string>;

const SAVE = {
  table: 'sending_slots',
  columns: COLUMNS,
  orderBy: 'phone_number_id',
  onConflict:
    'ON CONFLICT (phone_number_id) DO UPDATE SET free_at = excluded.free_at, saved_at = excluded.saved_at',
} as const satisfies Insert<string>;

export class SqlSendingSlotStore implements SendingSlotStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async lock(numberKey: string): Promise<TakenSlots> {
    // A row that does not exist cannot be locked.
    await this.#session.insert(MAKE, [rowOf(numberKey, NO_SLOTS)]);
    const [row] = await this.#session.query(
      'SELECT free_at, saved_at FROM sending_slots WHERE phone_number_id = ? FOR UPDATE',
      [numberKey],
    );
    return fromRow(row);
  }

  async find(numberKey: string): Promise<TakenSlots> {
    const [row] = await this.#session.query(
      'SELECT free_at, saved_at FROM sending_slots WHERE phone_number_id = ?',
      [numberKey],
    );
    return fromRow(row);
  }

  async save(numberKey: string, taken: TakenSlots): Promise<void> {
    await this.#session.insert(SAVE, [rowOf(numberKey, taken)]);
  }
}

function rowOf(numberKey: string, { freeAt, savedAt }: TakenSlots): RowOf<keyof typeof COLUMNS> {
  return { phone_number_id: numberKey, free_at: freeAt, saved_at: savedAt };
}

function fromRow(row: Row | undefined): TakenSlots {
  return row === undefined ? NO_SLOTS : { freeAt: row.free_at as number, savedAt: row.saved_at as number };
}
