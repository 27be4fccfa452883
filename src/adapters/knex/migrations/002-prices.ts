import type { Knex } from 'knex';
import type { DdlVariants } from '../driver/dialect.ts';

/** One price list, and its international rows in the order they were given. */
export async function up(knex: Knex, { key, clustered }: DdlVariants): Promise<void> {
  await knex.raw(`
    CREATE TABLE price_lists (
      id bigint PRIMARY KEY,
      document text NOT NULL
    )`);
  await knex.raw(`
    CREATE TABLE international_prices (
      position bigint PRIMARY KEY,
      country_iso ${key} NOT NULL,
      mcc_mnc ${key} NOT NULL,
      network ${key} NOT NULL,
      document text NOT NULL
    ) ${clustered}`);
  await knex.raw(
    'CREATE INDEX international_prices_listed ON international_prices (country_iso, mcc_mnc, network, position)',
  );
}
