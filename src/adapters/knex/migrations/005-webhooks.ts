import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** What customers are told, how their servers answer, and where inbound messages go. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_events (
      id ${key} PRIMARY KEY,
      kind text NOT NULL,
      project_id ${key} NOT NULL,
      subject ${key} NOT NULL,
      phone_number_id ${key},
      url text NOT NULL,
      endpoint ${key} NOT NULL,
      secret text,
      body text NOT NULL,
      state text NOT NULL,
      is_open bigint NOT NULL,
      attempts bigint NOT NULL,
      first_attempt_at bigint,
      next_attempt_at bigint,
      last_error text,
      created_at bigint NOT NULL,
      turn bigint NOT NULL
    ) ${clustered}`);
  await knex.raw('CREATE INDEX webhook_events_open ON webhook_events (subject) WHERE is_open = 1');
  await knex.raw('CREATE INDEX webhook_events_age ON webhook_events (created_at)');
  await knex.raw(
    'CREATE INDEX webhook_events_inbound ON webhook_events (phone_number_id, created_at) WHERE phone_number_id IS NOT NULL',
  );
  await knex.raw(`
    CREATE TABLE webhook_endpoints (
      endpoint ${key} PRIMARY KEY,
      health text NOT NULL,
      touched_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw('CREATE INDEX webhook_endpoints_age ON webhook_endpoints (touched_at)');
  await knex.raw(`
    CREATE TABLE inbound_webhooks (
      phone_number_id ${key} PRIMARY KEY,
      project_id ${key} NOT NULL REFERENCES projects,
      url text NOT NULL,
      secret text NOT NULL
    ) ${clustered}`);
}
