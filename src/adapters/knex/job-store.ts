import type { Job, LeasedJob, Work } from '../../application/jobs.ts';
import type { DeadJob, JobStore } from '../../application/ports/stores.ts';
import type { Insert, Lookup, Removal, Update } from './connection.ts';
import type { Session } from './session.ts';

/** What `add` creates a job with; every lease raises it, and adding the job again. */
const FIRST_FENCE = 0;

const INSERT = {
  table: 'jobs',
  columns: { id: 'text', work: 'text', due_at: 'bigint', fence: 'bigint', failures: 'bigint' },
  orderBy: 'id',
  onConflict: `ON CONFLICT (id) DO UPDATE
    SET work = excluded.work, due_at = excluded.due_at, is_leased = 0, fence = jobs.fence + 1, failures = 0`,
} as const satisfies Insert<string>;

/** Takes the lock also where nothing changes, so that whoever is about to remove the job is waited for. */
const BRING_FORWARD = {
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

const REMOVE_HELD = {
  table: 'jobs',
  key: { id: 'text', fence: 'bigint' },
} as const satisfies Removal<string>;

const HELD = {
  columns: { id: 'text', fence: 'bigint', until: 'bigint' },
  select: 'SELECT id FROM jobs WHERE id = :id AND fence = :fence AND due_at >= :until',
} as const satisfies Lookup<string>;

const INSERT_DEAD = {
  table: 'dead_jobs',
  columns: { id: 'text', work: 'text', fence: 'bigint', reason: 'text', buried_at: 'bigint' },
  orderBy: 'id',
  onConflict: 'ON CONFLICT (id, buried_at) DO NOTHING',
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
      rowsOf(jobs, () => FIRST_FENCE),
    );
  }

  async bringForward(jobs: readonly Job[]): Promise<void> {
    // A job of this id may have come and gone before: its fences do not come again.
    await this.#session.insert(
      BRING_FORWARD,
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
      `SELECT id, work, fence FROM jobs WHERE due_at <= ?
       ORDER BY due_at, id LIMIT ? FOR UPDATE SKIP LOCKED`,
      [now, limit],
    );
    if (due.length === 0) return [];
    await this.#session.execute(
      'UPDATE jobs SET due_at = ?, is_leased = 1, fence = fence + 1 WHERE id = ANY(?)',
      [until, due.map((row) => row.id as string)],
    );
    return due.map((row) => ({
      id: row.id as string,
      fence: (row.fence as number) + 1,
      work: JSON.parse(row.work as string) as Work,
    }));
  }

  async complete(jobs: readonly LeasedJob[]): Promise<readonly LeasedJob[]> {
    const removed = await this.#session.remove(
      REMOVE_HELD,
      jobs.map(({ id, fence }) => ({ id, fence })),
    );
    return jobs.filter((_, index) => removed[index]);
  }

  async held<Held extends LeasedJob>(jobs: readonly Held[], until = 0): Promise<readonly Held[]> {
    const found = await this.#session.lookup(
      HELD,
      jobs.map(({ id, fence }) => ({ id, fence, until })),
    );
    return jobs.filter((_, index) => (found[index] ?? []).length > 0);
  }

  async lockHeld<Held extends LeasedJob>(jobs: readonly Held[]): Promise<readonly Held[]> {
    const rows = await this.#session.query(
      'SELECT id, fence FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [jobs.map(({ id }) => id)],
    );
    const fences = new Map(rows.map((row) => [row.id, row.fence]));
    return jobs.filter(({ id, fence }) => fences.get(id) === fence);
  }

  async renew<Held extends LeasedJob>(jobs: readonly Held[], until: number): Promise<readonly Held[]> {
    const held = await this.lockHeld(jobs);
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
      'SELECT id, fence, failures FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [jobs.map(({ id }) => id)],
    );
    const failures = new Map(rows.map((row) => [`${row.id} ${row.fence}`, (row.failures as number) + 1]));
    const failuresOf = ({ id, fence }: LeasedJob): number | undefined => failures.get(`${id} ${fence}`);
    const held = jobs.filter((job) => failuresOf(job) !== undefined);
    const isWorn = (job: LeasedJob): boolean => (failuresOf(job) ?? 0) >= failuresMax;
    await this.#session.update(
      POSTPONE,
      held
        .filter((job) => !isWorn(job))
        .map((job) => ({ id: job.id, failures: failuresOf(job) ?? 0, due_at: retryAt, is_leased: 0 })),
    );
    const buried = await this.complete(held.filter(isWorn));
    await this.#session.insert(
      INSERT_DEAD,
      buried.map(({ id, fence, work }) => ({ id, fence, work: JSON.stringify(work), reason, buried_at: at })),
    );
    return buried;
  }

  async revive(now: number): Promise<number> {
    const rows = await this.#session.query(
      'SELECT id, work FROM dead_jobs ORDER BY id, buried_at FOR UPDATE',
    );
    await this.add(
      rows.map((row) => ({ id: row.id as string, work: JSON.parse(row.work as string) as Work, dueAt: now })),
    );
    await this.#session.execute('DELETE FROM dead_jobs WHERE id = ANY(?)', [
      rows.map((row) => row.id as string),
    ]);
    return rows.length;
  }

  async dead(limit: number): Promise<readonly DeadJob[]> {
    const rows = await this.#session.query(
      'SELECT id, work, reason, buried_at FROM dead_jobs ORDER BY buried_at DESC, id LIMIT ?',
      [limit],
    );
    return rows.map((row) => ({
      id: row.id as string,
      work: JSON.parse(row.work as string) as Work,
      reason: row.reason as string,
      buriedAt: row.buried_at as number,
    }));
  }

  async next(): Promise<Pick<Job, 'id' | 'dueAt'> | null> {
    const [row] = await this.#session.query('SELECT id, due_at FROM jobs ORDER BY due_at, id LIMIT 1');
    return row === undefined ? null : { id: row.id as string, dueAt: row.due_at as number };
  }

  async countDead(): Promise<number> {
    const [row] = await this.#session.query('SELECT COUNT(*) AS total FROM dead_jobs');
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
    fence: firstFence(job),
    failures: 0,
  }));
}
