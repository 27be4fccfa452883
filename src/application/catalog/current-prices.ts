import { pricesInForce, type ScheduledPrices } from '../../domain/billing/price-version.ts';
import { highestByCountryCode, type PriceList } from '../../domain/billing/pricing.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { ReadThroughCache, SETTINGS_FRESH_MS } from '../read-through-cache.ts';

/** The price list in force at an instant, in milliseconds since 1970. Throws `Rejected` as `no-prices` when there is none. */
export type PricesAt = (at: number) => PriceList;

/** The prices that sends are decided by. */
export interface CurrentPrices {
  /** The list in force, and those that come into force within `SCHEDULE_AHEAD_MS`. */
  read(): Promise<PricesAt>;
}

/** Longer than a list is cached and a transaction waits for locks, in milliseconds. */
export const SCHEDULE_AHEAD_MS = 120_000;

/** Price lists as they are stored. A version never changes, so it is read once. */
export class StoredCurrentPrices implements CurrentPrices {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };
  #versions: ReadonlyMap<string, PriceList> = new Map();

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  async read(): Promise<PricesAt> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    const schedule = await unitOfWork.read((stores) => this.#schedule(stores, now));
    return (at) => {
      const list = pricesInForce(schedule, at);
      if (list === null) throw new Rejected({ kind: 'no-prices' });
      return list;
    };
  }

  async #schedule(stores: Stores, now: number): Promise<readonly ScheduledPrices[]> {
    const inForce = await stores.priceVersions.inForceAt(now);
    const coming = await stores.priceVersions.scheduledBetween(now, now + SCHEDULE_AHEAD_MS);
    const read = new Map<string, PriceList>();
    const listOf = async (id: string): Promise<PriceList> => {
      const list = this.#versions.get(id) ?? (await stores.priceVersions.listOf(id));
      read.set(id, list);
      return list;
    };
    const first = inForce === null ? await seededList(stores) : await listOf(inForce.id);
    // A clock that is a little behind finds the same list.
    const schedule: ScheduledPrices[] =
      first === null ? [] : [{ effectiveFrom: Number.NEGATIVE_INFINITY, list: first }];
    for (const { id, effectiveFrom } of coming) schedule.push({ effectiveFrom, list: await listOf(id) });
    this.#versions = read;
    return schedule;
  }
}

/** Caches the price lists of another source for `SETTINGS_FRESH_MS`. */
export class CachedCurrentPrices implements CurrentPrices {
  readonly #source: CurrentPrices;
  readonly #cache: ReadThroughCache<PricesAt>;

  constructor({ source, clock }: { readonly source: CurrentPrices; readonly clock: Clock }) {
    this.#source = source;
    this.#cache = new ReadThroughCache({ clock, freshMs: SETTINGS_FRESH_MS, keysMax: 1 });
  }

  read(): Promise<PricesAt> {
    return this.#cache.get('prices', () => this.#source.read());
  }
}

/** What a seed file wrote: in force until the first version is. */
async function seededList({ prices }: Pick<Stores, 'prices'>): Promise<PriceList | null> {
  const seeded = await prices.load();
  if (seeded === null) return null;
  const { international, ...list } = seeded;
  return { ...list, internationalByCountryCode: highestByCountryCode(international) };
}
