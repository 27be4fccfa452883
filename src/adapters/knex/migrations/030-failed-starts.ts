import type { Knex } from 'knex';

/** Finds the scheduled campaigns of a project that could not start. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX campaigns_failed_at_start ON campaigns (project_id, completed_at)
    WHERE status = 'failed' AND started_at IS NULL`);
}
