import type { CountryPrices } from '../../../domain/billing/price-list-builder.ts';
import type { PriceVersion } from '../../../domain/billing/price-version.ts';
import type { InternationalPrice, PriceList } from '../../../domain/billing/pricing.ts';
import type { SystemPrices } from '../../../domain/billing/system-prices.ts';
import type { Page } from '../../../domain/shared/page.ts';

/** The versions of the price list: those that operators imported, and that of a seed file. Prices of a version never change. */
export interface PriceVersionStore {
  /** How often the schedule was changed. */
  revision(): Promise<number>;
  /** Counts a change of the schedule, and resolves with the new revision. Other changes wait until the transaction ends. */
  nextRevision(): Promise<number>;
  insert(version: PriceVersion, list: PriceList): Promise<void>;
  insertCountries(versionId: string, countries: readonly CountryPrices[]): Promise<void>;
  withdraw(id: string, at: number): Promise<void>;
  find(id: string): Promise<PriceVersion | null>;
  /** Up to `limit`, the newest id first, only smaller ids than `before` when it is given. */
  list(before: string | null, limit: number): Promise<readonly PriceVersion[]>;
  /** The version in force at an instant; null when there is none. Withdrawn ones never are. */
  inForceAt(at: number): Promise<PriceVersion | null>;
  /** Those that come into force after an instant, in this order, without withdrawn ones: few. */
  scheduledAfter(instant: number): Promise<readonly PriceVersion[]>;
  /** What sends are quoted by. Rejects when there is no such version. */
  listOf(id: string): Promise<PriceList>;
  systemPricesOf(id: string): Promise<SystemPrices>;
  /** The countries of a version in their order. */
  countriesOf(id: string): Promise<readonly string[]>;
  /** The rows of one country; none for a country that the version lacks. */
  rowsOf(id: string, countryIso: string): Promise<readonly InternationalPrice[]>;
  /** One page of the rows by countryIso, mccMnc, network; `countryIso` in upper case or null for all. */
  international(
    id: string,
    filter: { readonly countryIso: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly rows: readonly InternationalPrice[] }>;
}
