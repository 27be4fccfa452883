import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * How full pages of messages become, in percent. Each message is changed two or three times soon after it was stored; room for
 * that in its page leaves the indexes alone.
 */
const MESSAGES_FILL_PERCENT = 50;

/** The ids in the indexes of jobs took more room than all the rest. Jobs that are due together come as they were added. */
export async function up(knex: Knex, { needsTableLocks, fillPages }: DdlVariants): Promise<void> {
  // In the order in which the service locks them.
  if (needsTableLocks) await knex.raw('LOCK TABLE messages, jobs IN ACCESS EXCLUSIVE MODE');
  for (const statement of fillPages('messages', MESSAGES_FILL_PERCENT)) await knex.raw(statement);
  await knex.raw('DROP INDEX jobs_scheduled');
  await knex.raw('DROP INDEX jobs_available');
  await knex.raw('CREATE INDEX jobs_scheduled ON jobs (priority, due_at) WHERE is_available = 0');
  await knex.raw('CREATE INDEX jobs_available ON jobs (priority, project_id, due_at) WHERE is_available = 1');
}
