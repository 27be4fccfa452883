import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** When each key was used last. A table of its own: the version before reads `*` of `api_keys`. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE api_key_uses (
      digest ${key} PRIMARY KEY,
      last_used_at bigint NOT NULL
    ) ${clustered}`);
}
