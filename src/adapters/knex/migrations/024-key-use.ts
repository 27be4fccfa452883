import type { Knex } from 'knex';

/** When each API key was used last. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE api_keys ADD COLUMN last_used_at bigint');
}
