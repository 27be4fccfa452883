import type { JobPlace, JobStore, LastServed } from '../../../application/ports/stores/job-store.ts';
import { DEFAULT_SETTINGS } from '../../../domain/access/project.ts';
import {
  firstLeaseRound,
  nextLeaseRound,
  type Share,
  type WeightedBacklog,
} from '../../../domain/jobs/fair-share.ts';
import type { Job, LeasedJob } from '../../../domain/jobs/job.ts';
import { JOB_PRIORITIES, type JobPriority, MESSAGE_PRIORITIES } from '../../../domain/jobs/job-priority.ts';
import { SMS_ID_PREFIX } from '../../../domain/messages/message.ts';
import type { BatchQuery, Insert, Removal, Update } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { RANKS } from './job-ranks.ts';
import { FIRST_FENCING_TOKEN, INSERT_JOB, SCHEDULE_NO_LATER_THAN, storedWork } from './job-rows.ts';
import { readSettings } from './project-settings.ts';

/** Sorts before the id of every project. */
const FIRST_PROJECT = '';

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

/** The most jobs of each priority that become available before a lease: as many as a large lease takes. */
const MADE_AVAILABLE_MAX = 500;

/** Jobs that came due after they were added: deadlines, retries and leases that ran out. */
const CAME_DUE = {
  columns: { priority: 'bigint', now: 'bigint', jobs: 'bigint' },
  select: `SELECT id FROM jobs WHERE is_available = 0 AND priority = :priority AND due_at <= :now
    ORDER BY due_at, id FOR UPDATE SKIP LOCKED LIMIT :jobs`,
} as const satisfies BatchQuery<string>;

/**
 * The projects with available jobs of a priority, in the order of their ids. It goes from project to project by one search
 * in the index of available jobs each, so that it costs the same however many jobs there are. The settings are those of the
 * projects that are returned.
 */
const AVAILABLE_BACKLOGS = {
  columns: { priority: 'bigint', last: 'text', backlogs: 'bigint' },
  select: `WITH RECURSIVE walk (project_id) AS (
      SELECT MIN(project_id) FROM jobs WHERE is_available = 1 AND priority = :priority AND project_id > :last
      UNION ALL
      SELECT (SELECT MIN(jobs.project_id) FROM jobs
        WHERE jobs.is_available = 1 AND jobs.priority = :priority AND jobs.project_id > walk.project_id)
      FROM walk WHERE walk.project_id IS NOT NULL
    )
    SELECT project_id, (SELECT settings FROM projects WHERE projects.id = walk.project_id) AS settings
    FROM walk WHERE project_id IS NOT NULL LIMIT :backlogs`,
} as const satisfies BatchQuery<string>;

/** A job that another transaction is leasing is passed over. */
const DUE_JOBS = {
  columns: { priority: 'bigint', project_id: 'text', now: 'bigint', jobs: 'bigint' },
  select: `SELECT id, work, fencing_token FROM jobs
    WHERE is_available = 1 AND priority = :priority AND project_id = :project_id AND due_at <= :now
    ORDER BY due_at, id FOR UPDATE SKIP LOCKED LIMIT :jobs`,
} as const satisfies BatchQuery<string>;

/** Before the place of every job. */
const FIRST_PLACE: JobPlace = { dueAt: 0, id: '' };

const NEXT_SCHEDULED = {
  columns: { priority: 'bigint' },
  select: `SELECT id, due_at FROM jobs WHERE is_available = 0 AND priority = :priority
    ORDER BY due_at, id LIMIT 1`,
} as const satisfies BatchQuery<string>;

const NEXT_AVAILABLE = {
  columns: { priority: 'bigint', project_id: 'text' },
  select: `SELECT id, due_at FROM jobs WHERE is_available = 1 AND priority = :priority AND project_id = :project_id
    ORDER BY due_at, id LIMIT 1`,
} as const satisfies BatchQuery<string>;

/** Leasing a job moves its due time to the end of the lease, so an orphaned job is simply due again. */
export class SqlJobStore implements JobStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
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

  async lease({
    now,
    until,
    limit,
    lastServed = new Map(),
    workerId,
  }: Parameters<JobStore['lease']>[0]): Promise<readonly LeasedJob[]> {
    const backlogs = await this.#makeAvailable(now, limit, lastServed);
    const jobs = new Map<WeightedBacklog, LeasedJob[]>();
    for (let round = firstLeaseRound(limit, backlogs); round.shares.length > 0; ) {
      const leased = await this.#leaseShares(round.shares, { now, until, workerId });
      for (const [index, { backlog }] of round.shares.entries()) {
        const earlier = jobs.get(backlog);
        if (earlier === undefined) lastServed.set(backlog.priority, backlog.projectId);
        jobs.set(backlog, [...(earlier ?? []), ...(leased[index] ?? [])]);
      }
      round = nextLeaseRound(
        round,
        leased.map(({ length }) => length),
      );
    }
    return roundRobin(backlogs.map((backlog) => ({ ...backlog, jobs: jobs.get(backlog) ?? [] })));
  }

  /** Makes jobs available that came due, and returns the backlogs. */
  async #makeAvailable(
    now: number,
    limit: number,
    lastServed: LastServed,
  ): Promise<readonly WeightedBacklog[]> {
    const [cameDue, backlogs] = await Promise.all([
      this.#session.batchQuery(
        CAME_DUE,
        JOB_PRIORITIES.map((priority) => ({ priority: RANKS[priority], now, jobs: MADE_AVAILABLE_MAX })),
      ),
      this.#backlogs(limit, lastServed),
    ]);
    const ids = cameDue.flat().map((row) => row.id as string);
    if (ids.length === 0) return backlogs;
    await this.#session.execute('UPDATE jobs SET is_available = 1 WHERE id = ANY(?)', [ids]);
    return this.#backlogs(limit, lastServed);
  }

  /** The backlogs with available jobs, at most `limit` of a priority, each priority from behind the one served last. */
  async #backlogs(
    limit: number,
    lastServed: LastServed,
    priorities: readonly JobPriority[] = JOB_PRIORITIES,
  ): Promise<readonly WeightedBacklog[]> {
    const walks = priorities.flatMap((priority) => {
      const last = lastServed.get(priority);
      return [...(last === undefined ? [] : [last]), FIRST_PROJECT].map((after) => ({ priority, after }));
    });
    const found = await this.#session.batchQuery(
      AVAILABLE_BACKLOGS,
      walks.map(({ priority, after }) => ({ priority: RANKS[priority], last: after, backlogs: limit })),
    );
    return priorities.flatMap((priority) => {
      const rows = found.filter((_, index) => walks[index]?.priority === priority).flat();
      const settings = new Map(rows.map((row) => [row.project_id as string, row.settings as string | null]));
      return [...settings]
        .slice(0, limit)
        .map(([projectId, column]) => ({ priority, projectId, weight: weightOf(column) }));
    });
  }

  /** The jobs that were leased of each share. */
  async #leaseShares(
    shares: readonly Share[],
    { now, until, workerId }: { readonly now: number; readonly until: number; readonly workerId: string },
  ): Promise<readonly LeasedJob[][]> {
    const found = await this.#session.batchQuery(
      DUE_JOBS,
      shares.map(({ backlog: { priority, projectId }, jobs }) => ({
        priority: RANKS[priority],
        project_id: projectId,
        now,
        jobs,
      })),
    );
    const ids = found.flat().map((row) => row.id as string);
    if (ids.length > 0) {
      await this.#session.execute(
        `UPDATE jobs SET due_at = ?, is_available = 0, leased_by = ?, fencing_token = fencing_token + 1
         WHERE id = ANY(?)`,
        [until, workerId, ids],
      );
    }
    return found.map((rows) =>
      rows.map((row) => ({
        id: row.id as string,
        fencingToken: (row.fencing_token as number) + 1,
        work: storedWork(row.work as string),
      })),
    );
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

  async nextDue(priorities: readonly JobPriority[] = JOB_PRIORITIES): Promise<JobPlace | null> {
    const backlogs = await this.#backlogs(Number.MAX_SAFE_INTEGER, new Map(), priorities);
    const found = await Promise.all([
      this.#session.batchQuery(
        NEXT_SCHEDULED,
        priorities.map((priority) => ({ priority: RANKS[priority] })),
      ),
      this.#session.batchQuery(
        NEXT_AVAILABLE,
        backlogs.map(({ priority, projectId }) => ({ priority: RANKS[priority], project_id: projectId })),
      ),
    ]);
    const [next] = found
      .flat(2)
      .map((row) => ({ id: row.id as string, dueAt: row.due_at as number }))
      .sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
    return next ?? null;
  }

  async skipAvailable({
    projectId,
    priority,
    after,
    count,
  }: Parameters<JobStore['skipAvailable']>[0]): Promise<JobPlace | null> {
    const { dueAt, id } = after ?? FIRST_PLACE;
    const [row] = await this.#session.query(
      `SELECT id, due_at FROM jobs
       WHERE is_available = 1 AND priority = ? AND project_id = ? AND (due_at, id) > (?, ?)
       ORDER BY due_at, id LIMIT 1 OFFSET ?`,
      [RANKS[priority], projectId, dueAt, id, count - 1],
    );
    return row === undefined ? null : { id: row.id as string, dueAt: row.due_at as number };
  }
}

/** The weight in the settings of a project; null are those of a project that does not exist. */
function weightOf(settings: string | null): number {
  return settings === null ? DEFAULT_SETTINGS.weight : readSettings(settings).weight;
}

/** By priority. Within one, first a job of each project, then of each project as many jobs as its weight, mixed. */
function roundRobin(
  leased: readonly (WeightedBacklog & { readonly jobs: readonly LeasedJob[] })[],
): readonly LeasedJob[] {
  return leased
    .flatMap(({ priority, weight, jobs }) =>
      jobs.map((job, index) => ({ rank: RANKS[priority], turn: index / weight, job })),
    )
    .sort((a, b) => a.rank - b.rank || a.turn - b.turn)
    .map(({ job }) => job);
}

/** Of equal ids the last. */
function rowsOf(jobs: readonly Job[], now: number, firstToken: (job: Job) => number) {
  const latest = new Map(jobs.map((job) => [job.id, job]));
  return [...latest.values()].map((job) => ({
    id: job.id,
    project_id: job.projectId,
    priority: RANKS[job.priority],
    work: JSON.stringify(job.work),
    due_at: job.dueAt,
    is_available: job.dueAt <= now ? 1 : 0,
    fencing_token: firstToken(job),
    failures: 0,
  }));
}
