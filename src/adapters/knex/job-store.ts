import type { Job, LeasedJob, Work } from '../../application/jobs.ts';
import type { DeadLetterJob, JobStore } from '../../application/ports/job-store.ts';
import type { BatchQuery, Insert, Removal, Update } from './connection.ts';
import type { Session } from './session.ts';

/** What `add` creates a job with; every lease raises it, and adding the job again. */
const FIRST_FENCING_TOKEN = 0;

const INSERT = {
  table: 'jobs',
  columns: { id: 'text', work: 'text', due_at: 'bigint', fencing_token: 'bigint', failures: 'bigint' },
  orderBy: 'id',
  onConflict: `ON CONFLICT (id) DO UPDATE
    SET work = excluded.work, due_at = excluded.due_at, is_leased = 0, fencing_token = jobs.fencing_token + 1, failures = 0`,
} as const satisfies Insert<string>;

/** Takes the lock also where nothing changes, so that whoever is about to remove the job is waited for. */
const SCHEDULE_NO_LATER_THAN = {
  ...INSERT,
  onConflict: `ON CONFLICT (id) DO UPDATE SET due_at =
    CASE WHEN jobs.is_leased = 0 AND excluded.due_at < jobs.due_at THEN excluded.due_at ELSE jobs.due_at END`,
} as const satisfies Insert<string>;

const POSTPONE = {
  table: 'jobs',
  key: { id: 'text' },
  columns: { failures: 'bigint', due_at: 'bigint', is_leased: 'bigint' },
  mode: 'set',
} as const satisfies Update<string, string>;

const REMOVE_LEASED = {
  table: 'jobs',
  key: { id: 'text', fencing_token: 'bigint' },
} as const satisfies Removal<string>;

const STILL_LEASED = {
  columns: { id: 'text', fencing_token: 'bigint', until: 'bigint' },
  select: 'SELECT id FROM jobs WHERE id = :id AND fencing_token = :fencing_token AND due_at >= :until',
} as const satisfies BatchQuery<string>;

const INSERT_DEAD_LETTER = {
  table: 'dead_letter_jobs',
  columns: { id: 'text', work: 'text', fencing_token: 'bigint', reason: 'text', dead_lettered_at: 'bigint' },
  orderBy: 'id',
  onConflict: 'ON CONFLICT (id, dead_lettered_at) DO NOTHING',
} as const satisfies Insert<string>;

/** Leasing a job moves its due time to the end of the lease, so an orphaned job is simply due again. */
export class KnexJobStore implements JobStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async add(jobs: readonly Job[]): Promise<void> {
    await this.#session.insert(
      INSERT,
      rowsOf(jobs, () => FIRST_FENCING_TOKEN),
    );
  }

  async scheduleNoLaterThan(jobs: readonly Job[]): Promise<void> {
    // A job of this id may have come and gone before: its tokens do not come again.
    await this.#session.insert(
      SCHEDULE_NO_LATER_THAN,
      rowsOf(jobs, ({ dueAt }) => dueAt),
    );
  }

  async lease({
    now,
    until,
    limit,
  }: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly LeasedJob[]> {
    const due = await this.#session.query(
      `SELECT id, work, fencing_token FROM jobs WHERE due_at <= ?
       ORDER BY due_at, id LIMIT ? FOR UPDATE SKIP LOCKED`,
      [now, limit],
    );
    if (due.length === 0) return [];
    await this.#session.execute(
      'UPDATE jobs SET due_at = ?, is_leased = 1, fencing_token = fencing_token + 1 WHERE id = ANY(?)',
      [until, due.map((row) => row.id as string)],
    );
    return due.map((row) => ({
      id: row.id as string,
      fencingToken: (row.fencing_token as number) + 1,
      work: JSON.parse(row.work as string) as Work,
    }));
  }

  async complete(jobs: readonly LeasedJob[]): Promise<readonly LeasedJob[]> {
    const removed = await this.#session.remove(
      REMOVE_LEASED,
      jobs.map(({ id, fencingToken }) => ({ id, fencing_token: fencingToken })),
    );
    return jobs.filter((_, index) => removed[index]);
  }

  async stillLeased<Held extends LeasedJob>(jobs: readonly Held[], until = 0): Promise<readonly Held[]> {
    const found = await this.#session.batchQuery(
      STILL_LEASED,
      jobs.map(({ id, fencingToken }) => ({ id, fencing_token: fencingToken, until })),
    );
    return jobs.filter((_, index) => (found[index] ?? []).length > 0);
  }

  async lockLeased<Held extends LeasedJob>(jobs: readonly Held[]): Promise<readonly Held[]> {
    const rows = await this.#session.query(
      'SELECT id, fencing_token FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [jobs.map(({ id }) => id)],
    );
    const tokens = new Map(rows.map((row) => [row.id, row.fencing_token]));
    return jobs.filter(({ id, fencingToken }) => tokens.get(id) === fencingToken);
  }

  async renew<Held extends LeasedJob>(jobs: readonly Held[], until: number): Promise<readonly Held[]> {
    const held = await this.lockLeased(jobs);
    await this.#session.execute('UPDATE jobs SET due_at = ? WHERE id = ANY(?)', [
      until,
      held.map(({ id }) => id),
    ]);
    return held;
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#session.query('SELECT id FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE', [ids]);
    await this.#session.execute('DELETE FROM jobs WHERE id = ANY(?)', [ids]);
  }

  async fail(
    jobs: readonly LeasedJob[],
    { reason, at, retryAt, failuresMax }: Parameters<JobStore['fail']>[1],
  ): Promise<readonly LeasedJob[]> {
    const rows = await this.#session.query(
      'SELECT id, fencing_token, failures FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [jobs.map(({ id }) => id)],
    );
    const failures = new Map(
      rows.map((row) => [`${row.id} ${row.fencing_token}`, (row.failures as number) + 1]),
    );
    const failuresOf = ({ id, fencingToken }: LeasedJob): number | undefined =>
      failures.get(`${id} ${fencingToken}`);
    const held = jobs.filter((job) => failuresOf(job) !== undefined);
    const isWorn = (job: LeasedJob): boolean => (failuresOf(job) ?? 0) >= failuresMax;
    await this.#session.update(
      POSTPONE,
      held
        .filter((job) => !isWorn(job))
        .map((job) => ({ id: job.id, failures: failuresOf(job) ?? 0, due_at: retryAt, is_leased: 0 })),
    );
    const deadLettered = await this.complete(held.filter(isWorn));
    await this.#session.insert(
      INSERT_DEAD_LETTER,
      deadLettered.map(({ id, fencingToken, work }) => ({
        id,
        fencing_token: fencingToken,
        work: JSON.stringify(work),
        reason,
        dead_lettered_at: at,
      })),
    );
    return deadLettered;
  }

  async redrive(now: number): Promise<number> {
    const rows = await this.#session.query(
      'SELECT id, work FROM dead_letter_jobs ORDER BY id, dead_lettered_at FOR UPDATE',
    );
    await this.add(
      rows.map((row) => ({ id: row.id as string, work: JSON.parse(row.work as string) as Work, dueAt: now })),
    );
    await this.#session.execute('DELETE FROM dead_letter_jobs WHERE id = ANY(?)', [
      rows.map((row) => row.id as string),
    ]);
    return rows.length;
  }

  async deadLettered(limit: number): Promise<readonly DeadLetterJob[]> {
    const rows = await this.#session.query(
      'SELECT id, work, reason, dead_lettered_at FROM dead_letter_jobs ORDER BY dead_lettered_at DESC, id LIMIT ?',
      [limit],
    );
    return rows.map((row) => ({
      id: row.id as string,
      work: JSON.parse(row.work as string) as Work,
      reason: row.reason as string,
      deadLetteredAt: row.dead_lettered_at as number,
    }));
  }

  async nextDue(): Promise<Pick<Job, 'id' | 'dueAt'> | null> {
    const [row] = await this.#session.query('SELECT id, due_at FROM jobs ORDER BY due_at, id LIMIT 1');
    return row === undefined ? null : { id: row.id as string, dueAt: row.due_at as number };
  }

  async countDeadLettered(): Promise<number> {
    const [row] = await this.#session.query('SELECT COUNT(*) AS total FROM dead_letter_jobs');
    return row?.total as number;
  }
}

/** Of equal ids the last. */
function rowsOf(jobs: readonly Job[], firstFence: (job: Job) => number) {
  const latest = new Map(jobs.map((job) => [job.id, job]));
  return [...latest.values()].map((job) => ({
    id: job.id,
    work: JSON.stringify(job.work),
    due_at: job.dueAt,
    fencing_token: firstFence(job),
    failures: 0,
  }));
}
