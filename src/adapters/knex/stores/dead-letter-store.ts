import type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterPlace,
  DeadLetterStore,
} from '../../../application/ports/stores/dead-letter-store.ts';
import type { Removal, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { redrivenRow, SCHEDULE_NO_LATER_THAN } from './job-rows.ts';
import { likeKind, workIn } from './work-column.ts';

const COLUMNS = 'id, project_id, work, reason, dead_lettered_at';

/** Before every place and behind it: a range makes both databases read the index by time, also for one kind. */
const FIRST_PLACE = [-1, ''] as const;
const LAST_PLACE = [Number.MAX_SAFE_INTEGER, ''] as const;

const REMOVE = {
  table: 'dead_letter_jobs',
  key: { id: 'text', dead_lettered_at: 'bigint' },
} as const satisfies Removal<string>;

export class SqlDeadLetterStore implements DeadLetterStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async list({
    kind,
    reason,
    after,
    limit,
  }: Parameters<DeadLetterStore['list']>[0]): Promise<readonly DeadLetter[]> {
    const before = after === null ? LAST_PLACE : [after.deadLetteredAt, after.id];
    const rows = await this.#session.select((knex) => {
      const query = knex('dead_letter_jobs')
        .select(COLUMNS.split(', '))
        .whereRaw('(dead_lettered_at, id) < (?, ?)', before)
        .orderBy([
          { column: 'dead_lettered_at', order: 'desc' },
          { column: 'id', order: 'desc' },
        ])
        .limit(limit);
      if (kind !== null) query.where('work', 'like', likeKind(kind));
      if (reason !== null) query.where({ reason });
      return query;
    });
    return rows.map(deadLetterOf);
  }

  async count(limit: number): Promise<number> {
    const [row] = await this.#session.query(
      'SELECT COUNT(*) AS total FROM (SELECT 1 FROM dead_letter_jobs LIMIT ?) AS counted',
      [limit],
    );
    return row?.total as number;
  }

  async lock({ kind, ids }: DeadLetterFilter, limit: number): Promise<readonly DeadLetter[]> {
    const places = ids === null ? '(dead_lettered_at, id) > (?, ?)' : 'id = ANY(?)';
    const rows = await this.#session.query(
      `SELECT ${COLUMNS} FROM dead_letter_jobs
       WHERE ${places} ${kind === null ? '' : 'AND work LIKE ?'}
       ORDER BY dead_lettered_at, id LIMIT ? FOR UPDATE`,
      [...(ids === null ? FIRST_PLACE : [ids]), ...(kind === null ? [] : [likeKind(kind)]), limit],
    );
    return rows.map(deadLetterOf);
  }

  async redrive(places: readonly DeadLetterPlace[], now: number): Promise<void> {
    const rows = await this.#session.query(
      'SELECT id, project_id, priority, work, dead_lettered_at FROM dead_letter_jobs WHERE id = ANY(?) ORDER BY dead_lettered_at',
      [places.map(({ id }) => id)],
    );
    const wanted = new Set(places.map(({ id, deadLetteredAt }) => `${deadLetteredAt} ${id}`));
    // Of one id the latest.
    const latest = new Map(
      rows.filter((row) => wanted.has(`${row.dead_lettered_at} ${row.id}`)).map((row) => [row.id, row]),
    );
    await this.#session.insert(
      SCHEDULE_NO_LATER_THAN,
      [...latest.values()].map((row) => redrivenRow(row, now)),
    );
    await this.remove(places);
  }

  async remove(places: readonly DeadLetterPlace[]): Promise<void> {
    await this.#session.remove(
      REMOVE,
      places.map(({ id, deadLetteredAt }) => ({ id, dead_lettered_at: deadLetteredAt })),
    );
  }
}

function deadLetterOf(row: Row): DeadLetter {
  return {
    id: row.id as string,
    projectId: row.project_id as string,
    work: workIn(row.work as string),
    reason: row.reason as string,
    deadLetteredAt: row.dead_lettered_at as number,
  };
}
