import { highestByCountryCode, type PriceList } from '../../domain/billing/pricing.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';

/** How long settings that were read may be used; a change takes effect within this time. */
export const SETTINGS_FRESH_MS = 5_000;

/** The prices a send is decided by, read at most every few seconds. */
export class CurrentPrices {
  readonly #clock: Clock;
  #prices: PriceList | null = null;
  #freshUntil = 0;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Rejects when no price list was ever written. */
  async read(stores: Stores): Promise<PriceList> {
    const now = this.#clock.now();
    if (this.#prices === null || now >= this.#freshUntil) {
      const { sms, whatsapp, telegram, international } = await stores.prices.load();
      this.#prices = {
        sms,
        whatsapp,
        telegram,
        internationalByCountryCode: highestByCountryCode(international),
      };
      this.#freshUntil = now + SETTINGS_FRESH_MS;
    }
    return this.#prices;
  }
}
