import type { Knex } from 'knex';

/** The dead-letter jobs by time: operators list them, and change them, in slices of this order. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX dead_letter_jobs_by_time ON dead_letter_jobs (dead_lettered_at, id)');
}
