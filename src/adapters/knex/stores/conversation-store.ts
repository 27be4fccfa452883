import type { ConversationStore, CustomerWrote } from '../../../application/ports/stores/campaign-stores.ts';
import type { PhoneNumber } from '../../../domain/shared/phone-number.ts';
import type { Insert } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const LOCK = {
  table: 'portfolios',
  columns: { id: 'text' },
  orderBy: 'id',
  onConflict: 'ON CONFLICT (id) DO NOTHING',
} as const satisfies Insert<string>;

/** The row counts the conversations of the portfolio, so that nobody has to count their rows. */
const COUNT = {
  table: 'portfolios',
  columns: { id: 'text', conversations: 'bigint' },
  orderBy: 'id',
  onConflict:
    'ON CONFLICT (id) DO UPDATE SET conversations = portfolios.conversations + excluded.conversations',
} as const satisfies Insert<string>;

const OPEN = {
  table: 'conversations',
  columns: { portfolio_id: 'text', phone_number: 'text', opened_at: 'bigint' },
  orderBy: 'phone_number',
} as const satisfies Insert<string>;

const WROTE = {
  table: 'service_windows',
  columns: { phone_number_id: 'text', phone_number: 'text', wrote_at: 'bigint' },
  orderBy: ['phone_number_id', 'phone_number'],
  onConflict: `ON CONFLICT (phone_number_id, phone_number) DO UPDATE SET wrote_at = excluded.wrote_at
    WHERE service_windows.wrote_at < excluded.wrote_at`,
} as const satisfies Insert<string>;

export class SqlConversationStore implements ConversationStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async lock(portfolioKey: string): Promise<void> {
    // A row that does not exist cannot be locked.
    await this.#session.insert(LOCK, [{ id: portfolioKey }]);
    await this.#session.query('SELECT id FROM portfolios WHERE id = ? FOR UPDATE', [portfolioKey]);
  }

  async sweep(portfolioKey: string, until: number, latest: number): Promise<void> {
    const removed = await this.#session.execute(
      'DELETE FROM conversations WHERE portfolio_id = ? AND (opened_at <= ? OR opened_at > ?)',
      [portfolioKey, until, latest],
    );
    await this.#addToCount(portfolioKey, -removed);
  }

  async count(portfolioKey: string, since: number): Promise<number> {
    const [row] = await this.#session.query(
      `SELECT conversations - (
         SELECT COUNT(*) FROM conversations WHERE portfolio_id = portfolios.id AND opened_at <= ?) AS count
       FROM portfolios WHERE id = ?`,
      [since, portfolioKey],
    );
    return (row?.count as number | undefined) ?? 0;
  }

  async openAmong(
    portfolioKey: string,
    numbers: readonly PhoneNumber[],
    since: number,
  ): Promise<readonly PhoneNumber[]> {
    const rows = await this.#session.query(
      `SELECT phone_number FROM conversations
       WHERE portfolio_id = ? AND phone_number = ANY(?) AND opened_at > ?`,
      [portfolioKey, numbers, since],
    );
    return rows.map((row) => row.phone_number as PhoneNumber);
  }

  async oldest(portfolioKey: string, limit: number): Promise<readonly number[]> {
    const rows = await this.#session.query(
      'SELECT opened_at FROM conversations WHERE portfolio_id = ? ORDER BY opened_at LIMIT ?',
      [portfolioKey, limit],
    );
    return rows.map((row) => row.opened_at as number);
  }

  async open(portfolioKey: string, numbers: readonly PhoneNumber[], at: number): Promise<void> {
    await this.#session.insert(
      OPEN,
      numbers.map((phoneNumber) => ({
        portfolio_id: portfolioKey,
        phone_number: phoneNumber,
        opened_at: at,
      })),
    );
    await this.#addToCount(portfolioKey, numbers.length);
  }

  async noteWritten(written: readonly CustomerWrote[]): Promise<void> {
    await this.#session.insert(
      WROTE,
      written.map(({ whatsappPhoneId, phoneNumber, at }) => ({
        phone_number_id: whatsappPhoneId,
        phone_number: phoneNumber,
        wrote_at: at,
      })),
    );
  }

  async writtenAmong(
    whatsappPhoneId: string,
    numbers: readonly PhoneNumber[],
    since: number,
  ): Promise<readonly PhoneNumber[]> {
    const rows = await this.#session.query(
      `SELECT phone_number FROM service_windows
       WHERE phone_number_id = ? AND phone_number = ANY(?) AND wrote_at > ?`,
      [whatsappPhoneId, numbers, since],
    );
    return rows.map((row) => row.phone_number as PhoneNumber);
  }

  async sweepWritten(until: number, limit: number): Promise<void> {
    await this.#session.execute(
      `DELETE FROM service_windows WHERE (phone_number_id, phone_number) IN (
         SELECT phone_number_id, phone_number FROM service_windows WHERE wrote_at <= ?
         ORDER BY wrote_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [until, limit],
    );
  }

  async #addToCount(portfolioKey: string, change: number): Promise<void> {
    if (change !== 0) await this.#session.insert(COUNT, [{ id: portfolioKey, conversations: change }]);
  }
}
