import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** What makes all messages to a number findable, where no index of messages does. */
export async function up(knex: Knex, { messagesByNumber }: DdlVariants): Promise<void> {
  for (const statement of messagesByNumber) await knex.raw(statement);
}
