import type { WorkerStore } from '../../../application/ports/stores/worker-store.ts';
import type { Insert } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const MARK_SEEN = {
  table: 'workers',
  columns: { id: 'text', seen_at: 'bigint' },
  orderBy: 'id',
  onConflict: 'ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at',
} as const satisfies Insert<string>;

export class SqlWorkerStore implements WorkerStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async markSeen(id: string, seenAt: number): Promise<void> {
    await this.#session.insert(MARK_SEEN, [{ id, seen_at: seenAt }]);
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#session.execute('DELETE FROM workers WHERE id = ANY(?)', [ids]);
  }

  async seenSince(since: number): Promise<{ readonly count: number; readonly newestAt: number | null }> {
    const [row] = await this.#session.query(
      'SELECT COUNT(CASE WHEN seen_at >= ? THEN 1 END) AS seen, MAX(seen_at) AS newest FROM workers',
      [since],
    );
    return { count: row?.seen as number, newestAt: row?.newest as number | null };
  }

  async all(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#session.query('SELECT id, seen_at FROM workers', []);
    return new Map(rows.map((row) => [row.id as string, row.seen_at as number]));
  }
}
