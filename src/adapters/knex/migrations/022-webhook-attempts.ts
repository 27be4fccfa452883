import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * The delivery attempts of webhook events, in the order of their ordering keys: those of one message are found together.
 * Discarded events are found by their destination; an event is in that index only while it is discarded.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_attempts (
      ordering_key ${key} NOT NULL,
      event_id ${key} NOT NULL,
      attempt_number bigint NOT NULL,
      started_at bigint NOT NULL,
      duration_ms bigint NOT NULL,
      status bigint,
      error text,
      response text,
      PRIMARY KEY (ordering_key, event_id, attempt_number)
    ) ${clustered}`);
  await knex.raw(`
    CREATE INDEX webhook_events_discarded ON webhook_events (project_id, endpoint, id)
    WHERE state = 'discarded'`);
}
