import type { IdempotencyStore, IdempotentAnswer } from '../../application/ports/stores.ts';
import type { Insert, Lookup, Row } from './connection.ts';
import type { Session } from './session.ts';

const FIND = {
  columns: { project_id: 'text', route: 'text', key: 'text', now: 'bigint' },
  select: `
    SELECT answers.* FROM idempotent_answers AS answers
    WHERE answers.project_id = :project_id AND answers.route = :route AND answers.key = :key
      AND answers.expires_at > :now`,
} as const satisfies Lookup<string>;

/** Whoever keeps an answer has found none that counts, under a lock that makes others wait: what is left has expired. */
const SAVE = {
  table: 'idempotent_answers',
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

export class KnexIdempotencyStore implements IdempotencyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async find(
    keys: readonly { readonly projectId: string; readonly route: string; readonly key: string }[],
    now: number,
  ): Promise<readonly IdempotentAnswer[]> {
    const found = await this.#session.lookup(
      FIND,
      keys.map(({ projectId, route, key }) => ({ project_id: projectId, route, key, now })),
    );
    return found.flat().map(fromRow);
  }

  async save(answers: readonly IdempotentAnswer[]): Promise<void> {
    await this.#session.insert(
      SAVE,
      answers.map((answer) => ({
        project_id: answer.projectId,
        route: answer.route,
        key: answer.key,
        request_hash: answer.requestHash,
        result: answer.result,
        expires_at: answer.expiresAt,
      })),
    );
  }

  async sweep(now: number, limit: number): Promise<number> {
    return this.#session.execute(
      `DELETE FROM idempotent_answers WHERE (project_id, route, key) IN (
         SELECT project_id, route, key FROM idempotent_answers
         WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
      [now, limit],
    );
  }
}

function fromRow(row: Row): IdempotentAnswer {
  return {
    projectId: row.project_id as string,
    route: row.route as string,
    key: row.key as string,
    requestHash: row.request_hash as string,
    result: row.result as string,
    expiresAt: row.expires_at as number,
  };
}
