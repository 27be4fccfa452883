import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * Campaigns with their recipients; until when the slots of a whatsapp number are taken; the conversations of portfolios, and
 * when customers wrote. Messages of a campaign do not count for the rate limit of a number.
 */
export async function up(
  knex: Knex,
  { key, clustered, needsTableLocks, singleSends }: DdlVariants,
): Promise<void> {
  if (needsTableLocks) await knex.raw('LOCK TABLE messages IN ACCESS EXCLUSIVE MODE');
  await knex.raw('ALTER TABLE messages ADD COLUMN campaign_id text');
  for (const statement of singleSends) await knex.raw(statement);
  await knex.raw(`
    CREATE TABLE campaigns (
      id ${key} PRIMARY KEY,
      project_id ${key} NOT NULL REFERENCES projects,
      name text NOT NULL,
      category text NOT NULL,
      template_id text NOT NULL,
      phone_number_id text NOT NULL,
      status text NOT NULL,
      scheduled_for bigint,
      started_at bigint,
      completed_at bigint,
      total_recipients bigint NOT NULL,
      sent_count bigint NOT NULL,
      delivered_count bigint NOT NULL,
      failed_count bigint NOT NULL,
      estimated_cost bigint NOT NULL,
      reserved bigint NOT NULL,
      captured bigint NOT NULL,
      released bigint NOT NULL,
      failure_reason text,
      sample_of ${key},
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw('CREATE INDEX campaigns_of_project ON campaigns (project_id, id)');
  await knex.raw('CREATE INDEX campaigns_sampled ON campaigns (sample_of) WHERE sample_of IS NOT NULL');
  await knex.raw(`
    CREATE TABLE campaign_recipients (
      id ${key} PRIMARY KEY,
      campaign_id ${key} NOT NULL,
      position bigint NOT NULL,
      phone_number ${key} NOT NULL,
      phone_number_as_sent text NOT NULL,
      template_parameters text NOT NULL,
      estimated_cost bigint NOT NULL,
      status text NOT NULL,
      final_cost bigint,
      billing_state text NOT NULL,
      error_message text,
      sent_at bigint,
      delivered_at bigint,
      read_at bigint,
      failed_at bigint,
      UNIQUE (campaign_id, position),
      UNIQUE (campaign_id, phone_number)
    ) ${clustered}`);
  await knex.raw(`
    CREATE TABLE sending_slots (
      phone_number_id ${key} PRIMARY KEY,
      free_at bigint NOT NULL,
      saved_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw(`CREATE TABLE portfolios (id ${key} PRIMARY KEY) ${clustered}`);
  await knex.raw(`
    CREATE TABLE conversations (
      portfolio_id ${key} NOT NULL,
      phone_number ${key} NOT NULL,
      opened_at bigint NOT NULL,
      PRIMARY KEY (portfolio_id, phone_number)
    ) ${clustered}`);
  await knex.raw('CREATE INDEX conversations_by_age ON conversations (portfolio_id, opened_at)');
  await knex.raw(`
    CREATE TABLE service_windows (
      phone_number_id ${key} NOT NULL,
      phone_number ${key} NOT NULL,
      wrote_at bigint NOT NULL,
      PRIMARY KEY (phone_number_id, phone_number)
    ) ${clustered}`);
  await knex.raw('CREATE INDEX service_windows_by_age ON service_windows (wrote_at)');
}
