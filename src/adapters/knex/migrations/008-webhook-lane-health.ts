import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * The health of an endpoint is kept for each project that names it; what was known of endpoints is forgotten. Events
 * that may be swept are found without passing over those still open. A message that came in has one event.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  // In the order in which the service locks them.
  if (clustered === '')
    await knex.raw('LOCK TABLE webhook_events, webhook_endpoints IN ACCESS EXCLUSIVE MODE');
  await knex.raw('DROP TABLE webhook_endpoints');
  await knex.raw(`
    CREATE TABLE webhook_endpoints (
      lane ${key} PRIMARY KEY,
      health text NOT NULL,
      touched_at bigint NOT NULL
    ) ${clustered}`);
  await knex.raw('CREATE INDEX webhook_endpoints_age ON webhook_endpoints (touched_at)');
  await knex.raw('DROP INDEX webhook_events_age');
  await knex.raw('CREATE INDEX webhook_events_ended ON webhook_events (created_at) WHERE is_open = 0');
  await knex.raw(
    `CREATE UNIQUE INDEX webhook_events_arrival ON webhook_events (subject) WHERE kind = 'inbound'`,
  );
}
