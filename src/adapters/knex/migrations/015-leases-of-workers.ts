import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** A lease names its worker, so that others take over when that worker is gone. */
export async function up(knex: Knex, { needsTableLocks }: DdlVariants): Promise<void> {
  if (needsTableLocks) await knex.raw('LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE');
  await knex.raw('ALTER TABLE jobs ADD COLUMN leased_by text');
  // By a worker without a name: such a lease ends by itself.
  await knex.raw(`UPDATE jobs SET leased_by = '' WHERE is_leased = 1`);
  await knex.raw('ALTER TABLE jobs DROP COLUMN is_leased');
}
