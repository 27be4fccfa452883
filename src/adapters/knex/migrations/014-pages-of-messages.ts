import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** How full pages of messages become, in percent. */
const FILL_PERCENT = 50;

/**
 * Each message is changed two or three times soon after it was stored. A change that fits into the page of its row leaves the
 * indexes alone.
 */
export async function up(knex: Knex, { fillPages }: DdlVariants): Promise<void> {
  for (const statement of fillPages('messages', FILL_PERCENT)) await knex.raw(statement);
}
