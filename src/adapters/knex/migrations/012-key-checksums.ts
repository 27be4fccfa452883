import type { Knex } from 'knex';

/** Whether a key ends with a checksum; the keys that are there may not. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE api_keys ADD COLUMN has_checksum bigint NOT NULL DEFAULT 0');
}
