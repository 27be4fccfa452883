import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** Messages with everything that was tried for them; `recent_sends` answers how often a number was sent to. */
export async function up(knex: Knex, { key, clustered, recentSends }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE messages (
      sms_id ${key} PRIMARY KEY,
      project_id ${key} NOT NULL,
      phone_number ${key} NOT NULL,
      sender_id text,
      whatsapp_sender text NOT NULL,
      content text NOT NULL,
      channels text NOT NULL,
      steps text NOT NULL,
      status text NOT NULL,
      is_final bigint NOT NULL,
      cost bigint NOT NULL,
      prices text NOT NULL,
      settlement text NOT NULL,
      step_timeout_ms bigint NOT NULL,
      delivery_report text,
      created_at bigint NOT NULL,
      sent_at bigint,
      final_at bigint,
      error_reason text
    ) ${clustered}`);
  for (const statement of recentSends) await knex.raw(statement);
}
