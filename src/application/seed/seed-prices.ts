import { compareRows, rowChanges } from '../../domain/billing/price-changes.ts';
import { type BuiltPrices, PriceListBuilder } from '../../domain/billing/price-list-builder.ts';
import type { PriceVersion } from '../../domain/billing/price-version.ts';
import type { InternationalPrice } from '../../domain/billing/pricing.ts';
import { type SystemPrices, systemPriceChanges } from '../../domain/billing/system-prices.ts';
import { insertPriceVersion } from '../catalog/insert-price-version.ts';
import { groupBy } from '../group-by.ts';
import type { Stores } from '../ports/stores.ts';

/** The price list of a seed file. */
export interface SeedPrices extends SystemPrices {
  readonly international: readonly InternationalPrice[];
}

type VersionStores = Pick<Stores, 'priceVersions'>;

/**
 * Makes the list of a seed a version of the seed, which is in force until an imported one is. Changes nothing when an imported
 * version is in force, or one with the same prices. The caller has raised the revision of the schedule.
 */
export async function insertSeedPrices(
  stores: VersionStores,
  prices: SeedPrices,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<void> {
  const inForce = await stores.priceVersions.inForceAt(now);
  if (inForce !== null && inForce.actor !== 'seed') return;
  const built = builtPrices(prices);
  if (inForce !== null && (await isSame(stores, inForce, built))) return;
  const version: PriceVersion = {
    id,
    effectiveFrom: 0,
    createdAt: now,
    actor: 'seed',
    rowCount: built.rowCount,
    withdrawnAt: null,
  };
  await insertPriceVersion(stores, version, built);
}

function builtPrices({ international, ...system }: SeedPrices): BuiltPrices {
  const byCountry = groupBy(international, ({ countryIso }) => countryIso);
  const builder = new PriceListBuilder();
  for (const countryIso of [...byCountry.keys()].sort()) {
    builder.add(countryIso, (byCountry.get(countryIso) ?? []).toSorted(compareRows));
  }
  return builder.build(system);
}

async function isSame(
  { priceVersions }: VersionStores,
  { id, rowCount }: PriceVersion,
  built: BuiltPrices,
): Promise<boolean> {
  if (rowCount !== built.rowCount) return false;
  const system = await priceVersions.systemPricesOf(id);
  if (systemPriceChanges(system, built.list).length > 0) return false;
  for (const { countryIso, rows } of built.countries) {
    if (rowChanges(await priceVersions.rowsOf(id, countryIso), rows).length > 0) return false;
  }
  return true;
}
