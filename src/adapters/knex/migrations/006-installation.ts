import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** What all processes of one installation have to agree on. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE installation (
      name ${key} PRIMARY KEY,
      value text NOT NULL
    ) ${clustered}`);
}
