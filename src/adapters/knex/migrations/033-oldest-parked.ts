import type { Knex } from 'knex';

/**
 * The ids that receipts are parked under are counted, and the oldest found, in the index alone: 10,000 of them were read from the
 * table for each batch of early receipts, which took SQLite 3 ms. It reads `sms_id` although the index has null ones only.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX submissions_parked_by_provider');
  await knex.raw(`
    CREATE INDEX submissions_parked_by_provider ON submissions (parked_provider, sms_id, expires_at)
    WHERE sms_id IS NULL`);
}
