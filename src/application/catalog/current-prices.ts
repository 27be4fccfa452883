import { highestByCountryCode, type PriceList } from '../../domain/billing/pricing.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { ReadThroughCache, SETTINGS_FRESH_MS } from '../read-through-cache.ts';

/** The prices that sends are decided by. */
export interface CurrentPrices {
  /** The whole price list. Rejects when none was ever written. */
  read(): Promise<PriceList>;
}

/** The price list as it is stored. */
export class StoredPriceList implements CurrentPrices {
  readonly #ports: { readonly unitOfWork: UnitOfWork };

  constructor(ports: { readonly unitOfWork: UnitOfWork }) {
    this.#ports = ports;
  }

  async read(): Promise<PriceList> {
    const { international, ...prices } = await this.#ports.unitOfWork.read((stores) => stores.prices.load());
    return { ...prices, internationalByCountryCode: highestByCountryCode(international) };
  }
}

/** Caches the price list of another source for `SETTINGS_FRESH_MS`. */
export class CachedPriceList implements CurrentPrices {
  readonly #source: CurrentPrices;
  readonly #cache: ReadThroughCache<PriceList>;

  constructor({ source, clock }: { readonly source: CurrentPrices; readonly clock: Clock }) {
    this.#source = source;
    this.#cache = new ReadThroughCache({ clock, freshMs: SETTINGS_FRESH_MS, keysMax: 1 });
  }

  read(): Promise<PriceList> {
    return this.#cache.get('prices', () => this.#source.read());
  }
}
