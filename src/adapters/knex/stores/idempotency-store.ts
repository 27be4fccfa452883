import type { IdempotencyStore } from '../../../application/ports/stores/idempotency-store.ts';
import type { IdempotencyRecord } from '../../../domain/idempotency/idempotency.ts';
import { type BatchQuery, columnNames, type Insert, type Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

/** A record is saved under a lock, after none that is valid was found: one that is left under its key has expired. */
const SAVE = {
  table: 'idempotency_records',
  columns: {
    project_id: 'text',
    route: 'text',
    key: 'text',
    request_hash: 'text',
    result: 'text',
    expires_at: 'bigint',
  },
  orderBy: 'key',
  onConflict: `ON CONFLICT (project_id, route, key) DO UPDATE
    SET request_hash = excluded.request_hash, result = excluded.result, expires_at = excluded.expires_at`,
} as const satisfies Insert<string>;

const FIND = {
  columns: { project_id: 'text', route: 'text', key: 'text', now: 'bigint' },
  select: `
    SELECT ${columnNames(SAVE.columns)} FROM idempotency_records AS records
    WHERE records.project_id = :project_id AND records.route = :route AND records.key = :key
      AND records.expires_at > :now`,
} as const satisfies BatchQuery<string>;

export class SqlIdempotencyStore implements IdempotencyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async find(
    keys: readonly { readonly projectId: string; readonly route: string; readonly key: string }[],
    now: number,
  ): Promise<readonly IdempotencyRecord[]> {
    const found = await this.#session.batchQuery(
      FIND,
      keys.map(({ projectId, route, key }) => ({ project_id: projectId, route, key, now })),
    );
    return found.flat().map(fromRow);
  }

  async save(records: readonly IdempotencyRecord[]): Promise<void> {
    await this.#session.insert(
      SAVE,
      records.map((record) => ({
        project_id: record.projectId,
        route: record.route,
        key: record.key,
        request_hash: record.requestDigest,
        result: record.result,
        expires_at: record.expiresAt,
      })),
    );
  }

  async sweep(now: number, limit: number): Promise<number> {
    return this.#session.execute(
      `DELETE FROM idempotency_records WHERE (project_id, route, key) IN (
         SELECT project_id, route, key FROM idempotency_records
         WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [now, limit],
    );
  }
}

function fromRow(row: Row): IdempotencyRecord {
  return {
    projectId: row.project_id as string,
    route: row.route as string,
    key: row.key as string,
    requestDigest: row.request_hash as string,
    result: row.result as string,
    expiresAt: row.expires_at as number,
  };
}
