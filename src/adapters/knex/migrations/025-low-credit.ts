import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * When each project was told of low credit; a project has no row while the notice is armed. A table of its own: the version
 * before reads `*` of `accounts` for every send.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE low_credit_notices (
      project_id ${key} PRIMARY KEY,
      noticed_at bigint NOT NULL
    ) ${clustered}`);
}
