import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** What operators change: archived projects, keys that end, the entries of a statement, and the audit log. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw('ALTER TABLE projects ADD COLUMN archived_at bigint');
  await knex.raw('ALTER TABLE api_keys ADD COLUMN last_four text');
  await knex.raw('ALTER TABLE api_keys ADD COLUMN ends_at bigint');
  await knex.raw('ALTER TABLE api_keys ADD COLUMN revoked_at bigint');
  await knex.raw('CREATE INDEX api_keys_of_project ON api_keys (project_id, created_at, digest)');
  // Holds change no balance: without them each message has one row in this index, not two.
  await knex.raw(`
    CREATE INDEX ledger_statement ON ledger_entries (project_id, created_at, id) WHERE kind <> 'hold'`);
  await knex.raw(`
    CREATE TABLE audit_records (
      id ${key} PRIMARY KEY,
      at bigint NOT NULL,
      actor text NOT NULL,
      action text NOT NULL,
      project_id ${key},
      before_change text,
      after_change text
    ) ${clustered}`);
  await knex.raw('CREATE INDEX audit_records_of_project ON audit_records (project_id, id)');
}
