import { larger, type Money, ZERO } from '../shared/money.ts';
import type { InternationalPrice, PriceList } from './pricing.ts';
import type { SystemPrices } from './system-prices.ts';

/** The international rows of one country, in the order of specification 4.3. */
export interface CountryPrices {
  readonly countryIso: string;
  readonly rows: readonly InternationalPrice[];
  /** The rows of all countries before it. */
  readonly rowsBefore: number;
}

/** A price list with its rows, as a version of it is stored. */
export interface BuiltPrices {
  readonly list: PriceList;
  readonly countries: readonly CountryPrices[];
  readonly rowCount: number;
}

/** Builds a price list country by country. */
export class PriceListBuilder {
  readonly #countries: CountryPrices[] = [];
  readonly #highest = new Map<string, Money>();
  #rowCount = 0;

  /** The rows of the next country; one without rows is left out. */
  add(countryIso: string, rows: readonly InternationalPrice[]): void {
    if (rows.length === 0) return;
    this.#countries.push({ countryIso, rows, rowsBefore: this.#rowCount });
    this.#rowCount += rows.length;
    for (const { countryCode, price } of rows) {
      this.#highest.set(countryCode, larger(this.#highest.get(countryCode) ?? ZERO, price));
    }
  }

  build(system: SystemPrices): BuiltPrices {
    return {
      list: { ...system, internationalByCountryCode: this.#highest },
      countries: this.#countries,
      rowCount: this.#rowCount,
    };
  }
}
