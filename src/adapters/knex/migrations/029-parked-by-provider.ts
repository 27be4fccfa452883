import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * The ids of one provider that receipts are parked under are counted by an index, which an id leaves when it is recorded. A
 * process of an earlier version parks receipts without their provider: they count for none until they expire, an hour later
 * at the latest.
 */
export async function up(knex: Knex, { key }: DdlVariants): Promise<void> {
  await knex.raw(`ALTER TABLE submissions ADD COLUMN parked_provider ${key}`);
  await knex.raw(`
    CREATE INDEX submissions_parked_by_provider ON submissions (parked_provider)
    WHERE sms_id IS NULL`);
}
