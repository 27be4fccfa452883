import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** Reports, and the messages of a project in the order of their creation. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw('CREATE INDEX messages_of_project ON messages (project_id, created_at, sms_id)');
  await knex.raw(`
    CREATE TABLE reports (
      id ${key} PRIMARY KEY,
      project_id ${key} NOT NULL REFERENCES projects,
      file_name text NOT NULL,
      file_id ${key} NOT NULL UNIQUE,
      filters text NOT NULL,
      from_at bigint NOT NULL,
      to_at bigint NOT NULL,
      record_count bigint,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      deleted_at bigint
    ) ${clustered}`);
  await knex.raw('CREATE INDEX reports_made ON reports (project_id, id) WHERE record_count IS NOT NULL');
  await knex.raw('CREATE INDEX reports_by_age ON reports (project_id, created_at)');
}
