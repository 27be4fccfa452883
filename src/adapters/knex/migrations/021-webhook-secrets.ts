import type { Knex } from 'knex';

/**
 * The new secret of an inbound webhook while it is rotated. `secret` stays the old one meanwhile, so that processes of the
 * version before sign with what each receiver has.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE inbound_webhooks ADD COLUMN next_secret text');
  await knex.raw('ALTER TABLE inbound_webhooks ADD COLUMN next_secret_from bigint');
  await knex.raw(
    'CREATE INDEX inbound_webhooks_of_project ON inbound_webhooks (project_id, phone_number_id)',
  );
}
