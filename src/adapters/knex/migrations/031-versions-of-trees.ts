import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * The version of each tree of whatsapp resources. Triggers write it, so that also the version before changes it. It is a random
 * id: a number that is counted up would come again after a rollback, with another tree.
 */
export async function up(knex: Knex, { key, clustered, versionsOfTrees }: DdlVariants): Promise<void> {
  // A table of its own: a column behind the document could be read on SQLite only by way of the document.
  await knex.raw(`
    CREATE TABLE whatsapp_versions (
      project_id ${key} PRIMARY KEY REFERENCES whatsapp_resources ON DELETE CASCADE,
      version text NOT NULL
    ) ${clustered}`);
  for (const statement of versionsOfTrees) await knex.raw(statement);
}
