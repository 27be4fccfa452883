import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** Work to do, work that was given up, and what requests were answered. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE jobs (
      id ${key} PRIMARY KEY,
      work text NOT NULL,
      due_at bigint NOT NULL,
      fence bigint NOT NULL,
      failures bigint NOT NULL
    ) ${clustered}`);
  await knex.raw('CREATE INDEX jobs_due ON jobs (due_at, id)');
  await knex.raw(`
    CREATE TABLE dead_jobs (
      id ${key} NOT NULL,
      work text NOT NULL,
      fence bigint NOT NULL,
      reason text NOT NULL,
      buried_at bigint NOT NULL,
      PRIMARY KEY (id, buried_at)
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE idempotent_answers (
      project_id ${key} NOT NULL,
      route ${key} NOT NULL,
      key ${key} NOT NULL,
      request_hash text NOT NULL,
      result text NOT NULL,
      expires_at bigint NOT NULL,
      PRIMARY KEY (project_id, route, key)
    ) ${clustered}`);
  await knex.raw('CREATE INDEX idempotent_answers_expiry ON idempotent_answers (expires_at)');
}
