import type { InternationalPrice } from '../../../domain/billing/pricing.ts';
import type { SystemPrices } from '../../../domain/billing/system-prices.ts';
import { nextRound } from '../../concurrency/next-round.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';

/** A price list that is read country by country, so that no transaction takes long. */
interface PriceSource {
  readonly system: SystemPrices;
  /** In their order. */
  readonly countries: readonly string[];
  /** In the order of specification 4.3. */
  rowsOf(countryIso: string): Promise<readonly InternationalPrice[]>;
}

/** A stored version, which never changes. */
export async function storedSource(unitOfWork: UnitOfWork, versionId: string): Promise<PriceSource> {
  const [system, countries] = await unitOfWork.read(async ({ priceVersions }) => [
    await priceVersions.systemPricesOf(versionId),
    await priceVersions.countriesOf(versionId),
  ]);
  return {
    system,
    countries,
    rowsOf: async (countryIso) => {
      await nextRound();
      return unitOfWork.read(({ priceVersions }) => priceVersions.rowsOf(versionId, countryIso));
    },
  };
}
