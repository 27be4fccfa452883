import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * Why operators decided about sender IDs as they did, and the versions of the price list; `price_lists` is what a seed file
 * wrote. Reasons have a table: the version before reads `*` of `sender_ids`, and a column more would fail its prepared
 * statements.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE sender_id_reasons (
      id ${key} PRIMARY KEY,
      reason text NOT NULL
    ) ${clustered}`);
  await knex.raw('CREATE INDEX sender_ids_of_status ON sender_ids (status, id)');
  // One row: a change of the schedule locks it and counts it up, so that changes happen one after another.
  await knex.raw(`
    CREATE TABLE price_schedule (
      id bigint PRIMARY KEY,
      revision bigint NOT NULL
    )`);
  await knex.raw('INSERT INTO price_schedule (id, revision) VALUES (1, 0)');
  await knex.raw(`
    CREATE TABLE price_versions (
      id ${key} PRIMARY KEY,
      effective_from bigint NOT NULL,
      created_at bigint NOT NULL,
      actor text NOT NULL,
      row_count bigint NOT NULL,
      document text NOT NULL,
      withdrawn_at bigint
    ) ${clustered}`);
  await knex.raw(`
    CREATE INDEX price_versions_effective ON price_versions (effective_from, id) WHERE withdrawn_at IS NULL`);
  // The rows of a country are one document: 100,000 rows are written in some hundred statements.
  await knex.raw(`
    CREATE TABLE price_version_countries (
      version_id ${key} NOT NULL REFERENCES price_versions,
      country_iso ${key} NOT NULL,
      rows_before bigint NOT NULL,
      row_count bigint NOT NULL,
      document text NOT NULL,
      PRIMARY KEY (version_id, country_iso)
    ) ${clustered}`);
}
