import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** Projects, how they get in, what they own, and their money (in thousandths of an IQD). */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE projects (
      id ${key} PRIMARY KEY,
      slug ${key} NOT NULL UNIQUE,
      name text NOT NULL,
      environment text NOT NULL,
      settings text NOT NULL
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE api_keys (
      digest ${key} PRIMARY KEY,
      project_id ${key} NOT NULL REFERENCES projects,
      created_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE accounts (
      project_id ${key} PRIMARY KEY REFERENCES projects,
      payment_type text NOT NULL,
      balance bigint NOT NULL,
      held bigint NOT NULL,
      spent bigint NOT NULL,
      spending_threshold bigint,
      trial_phone_number text
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE ledger_entries (
      id ${key} PRIMARY KEY,
      project_id ${key} NOT NULL,
      kind text NOT NULL,
      reference text NOT NULL,
      balance_delta bigint NOT NULL,
      held_delta bigint NOT NULL,
      spent_delta bigint NOT NULL,
      created_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE sender_ids (
      id ${key} PRIMARY KEY,
      project_id ${key} NOT NULL REFERENCES projects,
      sender_id text NOT NULL,
      status text NOT NULL,
      price_per_sms text NOT NULL,
      UNIQUE (project_id, sender_id)
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE whatsapp_resources (
      project_id ${key} PRIMARY KEY REFERENCES projects,
      document text NOT NULL
    )`);
}
