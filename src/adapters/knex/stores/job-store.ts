import type { Job, LeasedJob, Work } from '../../../application/jobs/job.ts';
import { parseWork } from '../../../application/jobs/job-kinds.ts';
import type { DeadLetterJob, JobStore } from '../../../application/ports/job-store.ts';
import type { BatchQuery, Insert, Removal, Row, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

/** What `add` creates a job with; every lease raises it, and adding the job again. */
const FIRST_FENCING_TOKEN = 0;

const INSERT = {
  table: 'jobs',
  columns: { id: 'text', work: 'text', due_at: 'bigint', fencing_token: 'bigint', failures: 'bigint' },
  orderBy: 'id',
  onConflict: `ON CONFLICT (id) DO UPDATE
    SET work = excluded.work, due_at = excluded.due_at, is_leased = 0, failures = 0, fencing_token = jobs.fencing_token + 1`,
} as const satisfies Insert<string>;

/** Takes the lock also where nothing changes: a transaction that is about to remove the job is waited for. */
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
export class SqlJobStore implements JobStore {
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
    // The id may have had a job before: a token made of the due time is not one of that job's.
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
      work: readWork(row.work as string),
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
    await this.#session.execute(
      'DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE)',
      [ids],
    );
  }

  async fail(
    jobs: readonly LeasedJob[],
    { reason, at, retryAt, failuresMax }: Parameters<JobStore['fail']>[1],
  ): Promise<readonly LeasedJob[]> {
    const rows = await this.#session.query(
      'SELECT id, work, fencing_token, failures FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [jobs.map(({ id }) => id)],
    );
    const stored = new Map(rows.map((row) => [`${row.id} ${row.fencing_token}`, row]));
    const rowOf = ({ id, fencingToken }: LeasedJob): Row | undefined => stored.get(`${id} ${fencingToken}`);
    const failuresOf = (job: LeasedJob): number => ((rowOf(job)?.failures ?? 0) as number) + 1;
    const isExhausted = (job: LeasedJob): boolean => failuresOf(job) >= failuresMax;
    const held = jobs.filter((job) => rowOf(job) !== undefined);
    await this.#session.update(
      POSTPONE,
      held
        .filter((job) => !isExhausted(job))
        .map((job) => ({ id: job.id, failures: failuresOf(job), due_at: retryAt, is_leased: 0 })),
    );
    const deadLettered = await this.complete(held.filter(isExhausted));
    await this.#session.insert(
      INSERT_DEAD_LETTER,
      deadLettered.map((job) => ({
        id: job.id,
        fencing_token: job.fencingToken,
        work: rowOf(job)?.work ?? '',
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
    const latest = new Map(rows.map(({ id, work }) => [id, work]));
    await this.#session.insert(
      INSERT,
      [...latest].map(([id, work]) => ({
        id: id as string,
        work: work as string,
        due_at: now,
        fencing_token: FIRST_FENCING_TOKEN,
        failures: 0,
      })),
    );
    await this.#session.execute('DELETE FROM dead_letter_jobs WHERE id = ANY(?)', [
      rows.map((row) => row.id as string),
    ]);
    return rows.length;
  }

  async deadLettered(limit: number): Promise<readonly DeadLetterJob[]> {
    const rows = await this.#session.select((knex) =>
      knex('dead_letter_jobs')
        .select('id', 'reason', 'dead_lettered_at')
        .orderBy([{ column: 'dead_lettered_at', order: 'desc' }, 'id'])
        .limit(limit),
    );
    return rows.map((row) => ({
      id: row.id as string,
      reason: row.reason as string,
      deadLetteredAt: row.dead_lettered_at as number,
    }));
  }

  async nextDue(): Promise<Pick<Job, 'id' | 'dueAt'> | null> {
    const [row] = await this.#session.query('SELECT id, due_at FROM jobs ORDER BY due_at, id LIMIT 1');
    return row === undefined ? null : { id: row.id as string, dueAt: row.due_at as number };
  }

  async countDeadLettered(): Promise<number> {
    const [row] = await this.#session.select((knex) => knex('dead_letter_jobs').count({ total: '*' }));
    return row?.total as number;
  }
}

/** The work of a row; of work that this version does not understand, its kind. */
function readWork(text: string): Work {
  const value: unknown = JSON.parse(text);
  return parseWork(value) ?? { kind: kindOf(value) };
}

function kindOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'kind' in value ? String(value.kind) : '';
}

/** Of equal ids the last. */
function rowsOf(jobs: readonly Job[], firstToken: (job: Job) => number) {
  const latest = new Map(jobs.map((job) => [job.id, job]));
  return [...latest.values()].map((job) => ({
    id: job.id,
    work: JSON.stringify(job.work),
    due_at: job.dueAt,
    fencing_token: firstToken(job),
    failures: 0,
  }));
}
