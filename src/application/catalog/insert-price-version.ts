import type { BuiltPrices, CountryPrices } from '../../domain/billing/price-list-builder.ts';
import type { PriceVersion } from '../../domain/billing/price-version.ts';
import { nextRound } from '../concurrency/next-round.ts';
import type { Stores } from '../ports/stores.ts';

/** Rows that are written before other work may run. */
const ROWS_PER_WRITE = 2_000;

/** Adds a version with its rows. Other work runs in between. */
export async function insertPriceVersion(
  { priceVersions }: Pick<Stores, 'priceVersions'>,
  version: PriceVersion,
  { list, countries }: BuiltPrices,
): Promise<void> {
  await priceVersions.insert(version, list);
  let batch: CountryPrices[] = [];
  let rows = 0;
  for (const country of countries) {
    batch.push(country);
    rows += country.rows.length;
    if (rows < ROWS_PER_WRITE) continue;
    await priceVersions.insertCountries(version.id, batch);
    batch = [];
    rows = 0;
    await nextRound();
  }
  await priceVersions.insertCountries(version.id, batch);
}
