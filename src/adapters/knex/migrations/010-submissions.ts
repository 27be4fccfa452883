import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/**
 * Which attempt a provider's message id belongs to, with the receipts that came before that was known; which parts of a
 * message were delivered; and the workers that were seen. Only the simulator issued ids before, and it forgets
 * receipts at a restart: the ids of older attempts are not needed.
 */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE submissions (
      channel ${key} NOT NULL,
      provider_message_id ${key} NOT NULL,
      sms_id ${key},
      attempt_number bigint,
      parked_receipts text,
      expires_at bigint NOT NULL,
      PRIMARY KEY (channel, provider_message_id)
    ) ${clustered}`);
  await knex.raw('CREATE INDEX submissions_expiry ON submissions (expires_at)');
  await knex.raw('CREATE INDEX submissions_parked ON submissions (sms_id) WHERE parked_receipts IS NOT NULL');
  await knex.raw(`
    CREATE TABLE workers (
      id ${key} PRIMARY KEY,
      seen_at bigint NOT NULL
    ) ${clustered}`);
  // A quoted name cannot occur inside a JSON string.
  await knex.raw(
    `UPDATE messages SET attempts = REPLACE(attempts, ',"startedAt":', ',"deliveredIds":[],"startedAt":')`,
  );
}
