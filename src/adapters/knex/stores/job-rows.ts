import type { Insert, Row } from '../driver/connection.ts';

/** What `add` creates a job with; every lease raises it, and adding the job again. */
export const FIRST_FENCING_TOKEN = 0;

/** Adds jobs. One whose id exists begins anew, and a lease on it is void. */
export const INSERT_JOB = {
  table: 'jobs',
  columns: {
    id: 'text',
    project_id: 'text',
    priority: 'bigint',
    work: 'text',
    due_at: 'bigint',
    is_available: 'bigint',
    fencing_token: 'bigint',
    failures: 'bigint',
  },
  orderBy: 'id',
  onConflict: `ON CONFLICT (id) DO UPDATE
    SET project_id = excluded.project_id, priority = excluded.priority, work = excluded.work, due_at = excluded.due_at,
      is_available = excluded.is_available, leased_by = NULL, failures = 0, fencing_token = jobs.fencing_token + 1`,
} as const satisfies Insert<string>;

/**
 * Adds jobs. One whose id exists is due at the earlier of both instants; while it is leased it stays as it is. Takes the lock
 * also where nothing changes: a transaction that is about to remove the job is waited for.
 */
export const SCHEDULE_NO_LATER_THAN = {
  ...INSERT_JOB,
  onConflict: `ON CONFLICT (id) DO UPDATE SET
    due_at = CASE WHEN jobs.leased_by IS NULL AND excluded.due_at < jobs.due_at
      THEN excluded.due_at ELSE jobs.due_at END,
    is_available = CASE WHEN jobs.leased_by IS NULL AND excluded.due_at < jobs.due_at
      THEN excluded.is_available ELSE jobs.is_available END`,
} as const satisfies Insert<string>;

/** The job of a dead-letter row, due at `now`, for `SCHEDULE_NO_LATER_THAN`. */
export function redrivenRow({ id, project_id, priority, work }: Row, now: number) {
  return {
    id: id as string,
    project_id: project_id as string,
    priority: priority as number,
    work: work as string,
    due_at: now,
    is_available: 1,
    // The id has had a job before: a token made of the due time is not one of that job's.
    fencing_token: now,
    failures: 0,
  };
}
