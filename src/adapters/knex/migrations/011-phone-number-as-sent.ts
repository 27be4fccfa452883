import type { Knex } from 'knex';

/**
 * `phone_number` is the canonical number of the handset. This column has the number as the caller wrote it, and null when
 * both are the same.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE messages ADD COLUMN phone_number_as_sent text');
}
