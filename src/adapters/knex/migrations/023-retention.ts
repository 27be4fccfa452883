import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * How far old messages and reports of a project were treated, the old messages that wait for something, and the campaigns whose
 * numbers are gone. These have a table: the version before reads `*` of `campaigns`.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE retention_places (
      project_id ${key} NOT NULL,
      subject ${key} NOT NULL,
      action text NOT NULL,
      created_at bigint NOT NULL,
      id ${key} NOT NULL,
      PRIMARY KEY (project_id, subject)
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE retention_waiting (
      project_id ${key} NOT NULL,
      sms_id ${key} NOT NULL,
      PRIMARY KEY (project_id, sms_id)
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE campaigns_without_numbers (
      campaign_id ${key} PRIMARY KEY,
      erased_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw(`
    CREATE INDEX campaigns_ended ON campaigns (project_id, completed_at, id) WHERE completed_at IS NOT NULL`);
}
