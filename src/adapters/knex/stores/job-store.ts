import type { JobPlace, JobStore } from '../../../application/ports/stores/job-store.ts';
import type { Job, LeasedJob } from '../../../domain/jobs/job.ts';
import { JOB_PRIORITIES, type JobPriority, MESSAGE_PRIORITIES } from '../../../domain/jobs/job-priority.ts';
import { SMS_ID_PREFIX } from '../../../domain/messages/message.ts';
import type { BatchQuery, Insert, Removal, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { DueJobs } from './due-jobs.ts';
import { RANKS } from './job-ranks.ts';
import { FIRST_FENCING_TOKEN, INSERT_JOB, SCHEDULE_NO_LATER_THAN } from './job-rows.ts';
import { workText } from './work-column.ts';

const POSTPONE = {
  table: 'jobs',
  key: { id: 'text' },
  columns: { failures: 'bigint', due_at: 'bigint', is_available: 'bigint', leased_by: 'text' },
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
  columns: {
    id: 'text',
    project_id: 'text',
    priority: 'bigint',
    work: 'text',
    fencing_token: 'bigint',
    reason: 'text',
    dead_lettered_at: 'bigint',
  },
  orderBy: 'id',
  onConflict: 'ON CONFLICT (id, dead_lettered_at) DO NOTHING',
} as const satisfies Insert<string>;

/** Leasing a job moves its due time to the end of the lease, so an orphaned job is simply due again. */
export class SqlJobStore implements JobStore {
  readonly #session: Session;
  readonly #dueJobs: DueJobs;

  constructor(session: Session) {
    this.#session = session;
    this.#dueJobs = new DueJobs(session);
  }

  async add(jobs: readonly Job[], now: number): Promise<void> {
    await this.#session.insert(
      INSERT_JOB,
      rowsOf(jobs, now, () => FIRST_FENCING_TOKEN),
    );
  }

  async scheduleNoLaterThan(jobs: readonly Job[], now: number): Promise<void> {
    // The id may have had a job before: a token made of the due time is not one of that job's.
    await this.#session.insert(
      SCHEDULE_NO_LATER_THAN,
      rowsOf(jobs, now, ({ dueAt }) => dueAt),
    );
  }

  lease(terms: Parameters<JobStore['lease']>[0]): Promise<readonly LeasedJob[]> {
    return this.#dueJobs.lease(terms);
  }

  nextDue(priorities?: readonly JobPriority[]): Promise<JobPlace | null> {
    return this.#dueJobs.nextDue(priorities);
  }

  skipAvailable(places: Parameters<JobStore['skipAvailable']>[0]): Promise<JobPlace | null> {
    return this.#dueJobs.skipAvailable(places);
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

  async renew<Held extends LeasedJob>(
    jobs: readonly Held[],
    until: number,
    workerId: string,
  ): Promise<readonly Held[]> {
    const held = await this.lockLeased(jobs);
    await this.#session.execute(
      'UPDATE jobs SET due_at = ?, is_available = 0, leased_by = ? WHERE id = ANY(?)',
      [until, workerId, held.map(({ id }) => id)],
    );
    return held;
  }

  async handBack({
    workerIds,
    now,
    until,
    ofMessages = false,
  }: Parameters<JobStore['handBack']>[0]): Promise<number> {
    const priorities = ofMessages ? MESSAGE_PRIORITIES : JOB_PRIORITIES;
    const ranks = priorities.map((priority) => RANKS[priority]);
    return this.#session.execute(
      `UPDATE jobs SET due_at = ?, leased_by = NULL WHERE id IN (
         SELECT id FROM jobs
         WHERE is_available = 0 AND priority IN (${ranks}) AND due_at > ? AND due_at <= ?
           AND leased_by = ANY(?) ${ofMessages ? `AND id LIKE '${SMS_ID_PREFIX}%'` : ''}
         ORDER BY id FOR UPDATE SKIP LOCKED)`,
      [now, now, until, workerIds],
    );
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
      'SELECT id, project_id, priority, work, fencing_token, failures FROM jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE',
      [jobs.map(({ id }) => id)],
    );
    const stored = new Map(rows.map((row) => [`${row.id} ${row.fencing_token}`, row]));
    const held = jobs.flatMap((job) => {
      const row = stored.get(`${job.id} ${job.fencingToken}`);
      return row === undefined ? [] : [{ job, row, failures: (row.failures as number) + 1 }];
    });
    const exhausted = held.filter(({ failures }) => failures >= failuresMax);
    await this.#session.update(
      POSTPONE,
      held
        .filter(({ failures }) => failures < failuresMax)
        .map(({ job, failures }) => ({
          id: job.id,
          failures,
          due_at: retryAt,
          is_available: 0,
          leased_by: null,
        })),
    );
    await this.#session.insert(
      INSERT_DEAD_LETTER,
      exhausted.map(({ job, row }) => ({
        id: job.id,
        project_id: row.project_id as string,
        priority: row.priority as number,
        fencing_token: job.fencingToken,
        work: row.work as string,
        reason,
        dead_lettered_at: at,
      })),
    );
    // The rows are locked, so all of them are still leased.
    return this.complete(exhausted.map(({ job }) => job));
  }
}

/** Of equal ids the last. */
function rowsOf(jobs: readonly Job[], now: number, firstToken: (job: Job) => number) {
  const latest = new Map(jobs.map((job) => [job.id, job]));
  return [...latest.values()].map((job) => ({
    id: job.id,
    project_id: job.projectId,
    priority: RANKS[job.priority],
    work: workText(job.work),
    due_at: job.dueAt,
    is_available: job.dueAt <= now ? 1 : 0,
    fencing_token: firstToken(job),
    failures: 0,
  }));
}
