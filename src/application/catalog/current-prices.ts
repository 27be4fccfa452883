import { pricesInForce, type ScheduledPrices } from '../../domain/billing/price-version.ts';
import type { PriceList } from '../../domain/billing/pricing.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Stores } from '../ports/stores.ts';
import { SETTINGS_FRESH_MS } from '../read-through-cache.ts';

type PriceStores = Pick<Stores, 'priceVersions'>;

/** The lists from an instant on, until the schedule is changed. */
interface Schedule {
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** In the order of their instants; the first is in force at `from`. None before there is a list. */
  readonly prices: readonly ScheduledPrices[];
}

/** The prices that sends and campaigns are decided by. */
export class CurrentPrices {
  #schedule: Schedule | null = null;
  /** When its revision was last compared with the stored one. */
  #comparedAt = Number.NEGATIVE_INFINITY;

  /**
   * The list in force at `now`, in milliseconds since 1970, by a schedule that was the stored one less than `SETTINGS_FRESH_MS`
   * before. `stores` are those of the unit of work that decides at `now`: what its caller has read may be old by the time the
   * unit begins. Throws `Rejected` as `no-prices` when there is no list.
   */
  async at(stores: PriceStores, now: number): Promise<PriceList> {
    const { prices } = this.#freshAt(now) ?? (await this.#compared(stores, now));
    const list = pricesInForce(prices, now);
    if (list === null) throw new Rejected({ kind: 'no-prices' });
    return list;
  }

  #freshAt(now: number): Schedule | null {
    const age = now - this.#comparedAt;
    // A clock that was set back makes nothing younger.
    return age >= 0 && age < SETTINGS_FRESH_MS ? this.#schedule : null;
  }

  async #compared(stores: PriceStores, now: number): Promise<Schedule> {
    const revision = await stores.priceVersions.revision();
    const kept = this.#schedule;
    const isCurrent = kept !== null && kept.revision === revision && kept.from <= now;
    const schedule = isCurrent ? kept : await readSchedule(stores, revision, now);
    this.#schedule = schedule;
    this.#comparedAt = now;
    return schedule;
  }
}

async function readSchedule(
  { priceVersions }: PriceStores,
  revision: number,
  now: number,
): Promise<Schedule> {
  const inForce = await priceVersions.inForceAt(now);
  const later = await priceVersions.scheduledAfter(now);
  const prices: ScheduledPrices[] = [];
  for (const { id, effectiveFrom } of inForce === null ? later : [inForce, ...later]) {
    prices.push({ effectiveFrom, list: await priceVersions.listOf(id) });
  }
  return { revision, from: now, prices };
}
