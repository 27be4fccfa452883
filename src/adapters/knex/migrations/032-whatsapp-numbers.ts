import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * Finds the whatsapp number of a callback without its tree, which may have hundreds of templates. Triggers write the numbers, so
 * that those of a tree that the version before writes are found too. A number that has moved is in two trees, or twice in one:
 * in the old place as deleted.
 */
export async function up(knex: Knex, { key, clustered, numbersOfTrees }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE whatsapp_numbers (
      project_id ${key} NOT NULL REFERENCES whatsapp_resources ON DELETE CASCADE,
      platform_id ${key} NOT NULL,
      is_deleted integer NOT NULL,
      phone_id text NOT NULL,
      PRIMARY KEY (project_id, platform_id, is_deleted)
    ) ${clustered}`);
  await knex.raw(
    'CREATE INDEX whatsapp_numbers_by_platform_id ON whatsapp_numbers (platform_id, project_id)',
  );
  for (const statement of numbersOfTrees) await knex.raw(statement);
}
