import type { Knex } from 'knex';

/** When each project was told of low credit; null while the notice is armed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE accounts ADD COLUMN low_credit_noticed_at bigint');
}
