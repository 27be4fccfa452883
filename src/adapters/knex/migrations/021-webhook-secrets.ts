import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * The new secret of an inbound webhook while it is rotated. `secret` stays the old one meanwhile, so that processes of the
 * version before sign with what each receiver has. A table of its own: that version reads `*` of `inbound_webhooks`.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE inbound_webhook_rotations (
      phone_number_id ${key} PRIMARY KEY,
      next_secret text NOT NULL,
      next_secret_from bigint NOT NULL
    ) ${clustered}`);
  await knex.raw(
    'CREATE INDEX inbound_webhooks_of_project ON inbound_webhooks (project_id, phone_number_id)',
  );
}
