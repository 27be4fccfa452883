import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** Jobs of earlier versions, one for each event; `work` began like this. */
const JOBS_OF_EVENTS = `work LIKE '{"kind":"post-webhook",%'`;
const ROWS_PER_INSERT = 100;

/** One job for all events of a project to an endpoint, where every event had a job of its own. */
export async function up(knex: Knex, { clustered }: DdlVariants): Promise<void> {
  // In the order in which the service locks them.
  if (clustered === '') await knex.raw('LOCK TABLE webhook_events, jobs IN ACCESS EXCLUSIVE MODE');
  await knex.raw('ALTER TABLE jobs ADD COLUMN is_leased bigint NOT NULL DEFAULT 0');
  await knex.raw('ALTER TABLE webhook_events RENAME COLUMN turn TO version');
  if (clustered !== '') await uncluster(knex, 'webhook_events');
  await knex.raw(
    `CREATE INDEX webhook_events_due ON webhook_events (project_id, endpoint, next_attempt_at, id)
     WHERE next_attempt_at IS NOT NULL`,
  );
  const lanes: readonly {
    readonly project_id: string;
    readonly endpoint: string;
    readonly due_at: number;
  }[] = await knex('webhook_events')
    .whereNotNull('next_attempt_at')
    .groupBy('project_id', 'endpoint')
    .select('project_id', 'endpoint')
    .min('next_attempt_at as due_at');
  const jobs = lanes.map(({ project_id: projectId, endpoint, due_at: dueAt }) => ({
    id: `webhooks/${projectId}/${endpoint}`,
    work: JSON.stringify({ kind: 'post-webhooks', projectId, endpoint }),
    due_at: dueAt,
    fence: 0,
    failures: 0,
  }));
  // It waits by a timer between its batches, also when there is none.
  if (jobs.length > 0) await knex.batchInsert('jobs', jobs, ROWS_PER_INSERT);
  await knex.raw(`DELETE FROM jobs WHERE ${JOBS_OF_EVENTS}`);
  await knex.raw(`DELETE FROM dead_jobs WHERE ${JOBS_OF_EVENTS}`);
}

/** Rows as large as these are found and changed faster when only their keys are in the tree (SQLite). */
async function uncluster(knex: Knex, table: string): Promise<void> {
  const texts = async (type: string): Promise<readonly string[]> =>
    knex('sqlite_master').where({ type, tbl_name: table }).whereNotNull('sql').pluck('sql');
  const [definition = ''] = await texts('table');
  const indexes = await texts('index');
  await knex.raw('ALTER TABLE ?? RENAME TO ??', [table, `${table}_clustered`]);
  await knex.raw(definition.replace(/WITHOUT ROWID\s*$/, ''));
  await knex.raw('INSERT INTO ?? SELECT * FROM ?? ORDER BY id', [table, `${table}_clustered`]);
  await knex.raw('DROP TABLE ??', [`${table}_clustered`]);
  for (const index of indexes) await knex.raw(index);
}
