import type {
  JobDepth,
  JobState,
  JobSurveyStore,
} from '../../../application/ports/stores/job-survey-store.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../../domain/jobs/job-priority.ts';
import type { Session } from '../driver/session.ts';
import { priorityOf, RANKS } from './job-ranks.ts';
import { KIND_SQL, kindIn } from './work-column.ts';

const COUNT_DUE = JOB_PRIORITIES.map(
  (priority) => `SELECT ${RANKS[priority]} AS priority,
    (SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE is_available = 1 AND priority = ${RANKS[priority]}
      LIMIT ?) AS available)
    + (SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE is_available = 0 AND priority = ${RANKS[priority]}
      AND due_at <= ? LIMIT ?) AS came_due) AS due`,
).join(' UNION ALL ');

const DEPTH = `SELECT priority, state, kind, COUNT(*) AS total FROM (${JOB_PRIORITIES.flatMap((priority) => [
  counted(RANKS[priority], 1),
  counted(RANKS[priority], 0),
]).join(' UNION ALL ')}) AS every GROUP BY priority, state, kind ORDER BY priority, kind, state`;

/** Each part is a subquery: a LIMIT of its own is not possible otherwise. */
function counted(rank: number, isAvailable: 0 | 1): string {
  const order = isAvailable === 1 ? '' : 'ORDER BY due_at, id';
  return `SELECT priority, kind, state FROM (SELECT priority, ${KIND_SQL} AS kind,
      CASE WHEN is_available = 1 OR due_at <= ? THEN 'due' WHEN leased_by IS NOT NULL THEN 'leased'
        ELSE 'scheduled' END AS state
    FROM jobs WHERE is_available = ${isAvailable} AND priority = ${rank} ${order} LIMIT ?) AS part_${rank}_${isAvailable}`;
}

export class SqlJobSurveyStore implements JobSurveyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async countDue(now: number, limit: number): Promise<ReadonlyMap<JobPriority, number>> {
    const rows = await this.#session.query(
      COUNT_DUE,
      JOB_PRIORITIES.flatMap(() => [limit, now, limit]),
    );
    return new Map(rows.map((row) => [priorityOf(row.priority as number), row.due as number]));
  }

  async depth(now: number, limit: number): Promise<readonly JobDepth[]> {
    const rows = await this.#session.query(
      DEPTH,
      JOB_PRIORITIES.flatMap(() => [now, limit, now, limit]),
    );
    const totals = new Map<string, JobDepth>();
    for (const row of rows) {
      const priority = priorityOf(row.priority as number);
      const kind = kindIn(row.kind as string);
      const state = row.state as JobState;
      const key = `${priority} ${kind} ${state}`;
      const jobs = (totals.get(key)?.jobs ?? 0) + (row.total as number);
      totals.set(key, { priority, kind, state, jobs });
    }
    return [...totals.values()];
  }
}
