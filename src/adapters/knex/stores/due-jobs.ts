import type { JobPlace, JobStore, LastServed } from '../../../application/ports/stores/job-store.ts';
import { DEFAULT_SETTINGS } from '../../../domain/access/project.ts';
import {
  firstLeaseRound,
  nextLeaseRound,
  type Share,
  type WeightedBacklog,
} from '../../../domain/jobs/fair-share.ts';
import type { LeasedJob } from '../../../domain/jobs/job.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../../domain/jobs/job-priority.ts';
import type { BatchQuery } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { RANKS } from './job-ranks.ts';
import { readSettings } from './project-settings.ts';
import { workIn } from './work-column.ts';

/** Sorts before the id of every project. */
const FIRST_PROJECT = '';

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

/** Finds the jobs that are due, fairly among projects, and leases them: the methods of the same names of `JobStore`. */
export class DueJobs implements Pick<JobStore, 'lease' | 'nextDue' | 'skipAvailable'> {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
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
        work: workIn(row.work as string),
      })),
    );
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
