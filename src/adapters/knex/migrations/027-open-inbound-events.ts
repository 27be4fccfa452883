import type { Knex } from 'knex';

/**
 * The open events of whatsapp numbers: they follow their webhook, in slices of this order. An event leaves the index when it
 * ends.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX webhook_events_open_inbound ON webhook_events (phone_number_id, id)
    WHERE is_open = 1 AND phone_number_id IS NOT NULL`);
}
