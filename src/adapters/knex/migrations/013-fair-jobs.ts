import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** How `SqlJobStore` stores a priority. */
const CODE = 10;
const TEXT = 20;
const WEBHOOK = 40;

/** The project of jobs whose message is gone, and of those that an older version adds beside this one. */
const NO_PROJECT = '-';

/** `sms-` and 24 hex characters begin the id of a message's job. */
const SMS_ID_LENGTH = 28;
/** `webhooks/` and 24 hex characters begin the id of a destination's job. */
const PROJECT_ID_START = 10;
const PROJECT_ID_LENGTH = 24;

/** Jobs know their project and priority. They are found by both when they are available, else by their due time. */
export async function up(knex: Knex, { key, needsTableLocks }: DdlVariants): Promise<void> {
  // In the order in which the service locks them.
  if (needsTableLocks) await knex.raw('LOCK TABLE messages, jobs, dead_letter_jobs IN ACCESS EXCLUSIVE MODE');
  for (const table of ['jobs', 'dead_letter_jobs']) {
    await knex.raw(`ALTER TABLE ?? ADD COLUMN project_id ${key} NOT NULL DEFAULT '${NO_PROJECT}'`, [table]);
    await knex.raw(`ALTER TABLE ?? ADD COLUMN priority bigint NOT NULL DEFAULT ${TEXT}`, [table]);
    await knex.raw(
      `UPDATE ?? SET project_id = substr(id, ${PROJECT_ID_START}, ${PROJECT_ID_LENGTH}), priority = ${WEBHOOK}
       WHERE id LIKE 'webhooks/%'`,
      [table],
    );
    const message = `FROM messages WHERE messages.sms_id = substr(??.id, 1, ${SMS_ID_LENGTH})`;
    // A quoted name cannot occur inside a JSON string.
    await knex.raw(
      `UPDATE ?? SET
         project_id = COALESCE((SELECT messages.project_id ${message}), '${NO_PROJECT}'),
         priority = COALESCE(
           (SELECT ${CODE} ${message} AND messages.content LIKE '%"smsType":"verification"%'), ${TEXT})
       WHERE id LIKE 'sms-%'`,
      [table, table, table],
    );
  }
  // Leases make the jobs available that are due.
  await knex.raw('ALTER TABLE jobs ADD COLUMN is_available bigint NOT NULL DEFAULT 0');
  await knex.raw('DROP INDEX jobs_due');
  await knex.raw('CREATE INDEX jobs_scheduled ON jobs (priority, due_at, id) WHERE is_available = 0');
  await knex.raw(
    'CREATE INDEX jobs_available ON jobs (priority, project_id, due_at, id) WHERE is_available = 1',
  );
}
