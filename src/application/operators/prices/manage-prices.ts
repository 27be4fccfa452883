import { auditedVersion } from '../../../domain/audit/audited.ts';
import {
  isWithdrawable,
  type PriceVersion,
  type PriceVersionStatus,
  priceVersionStatus,
} from '../../../domain/billing/price-version.ts';
import type { InternationalPrice } from '../../../domain/billing/pricing.ts';
import type { SystemPrices } from '../../../domain/billing/system-prices.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import type { Page } from '../../../domain/shared/page.ts';
import { recordChange } from '../../audit/record-change.ts';
import { Rejected } from '../../errors/rejected.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Stores } from '../../ports/stores.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import { cutPage, type ListPage } from '../walk-page.ts';

/** A version, and what it is now. */
export interface ListedVersion {
  readonly version: PriceVersion;
  readonly status: PriceVersionStatus;
}

/** A price list with one page of its international rows. */
export interface PricePage {
  readonly listed: ListedVersion;
  readonly system: SystemPrices;
  readonly total: number;
  readonly rows: readonly InternationalPrice[];
}

/** Which rows a page has. */
export interface PricePageQuery {
  /** In upper case; null for every country. */
  readonly countryIso: string | null;
  readonly page: Page;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The price list in force and its history, for operators. */
export class ManagePrices {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** A page of the list in force; null when there is none. */
  inForce(query: PricePageQuery): Promise<PricePage | null> {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.read(async (stores) => {
      const version = await stores.priceVersions.inForceAt(clock.now());
      return version === null ? null : pricePageOf(stores, { version, status: 'in-force' }, query);
    });
  }

  /** A page of one version. Rejects as `unknown-price-version`. */
  find(id: string, query: PricePageQuery): Promise<PricePage> {
    const now = this.#ports.clock.now();
    return this.#ports.unitOfWork.read(async (stores) => {
      const version = await versionOf(stores, id);
      return pricePageOf(stores, await listed(stores, version, now), query);
    });
  }

  /** Up to `limit` versions, the newest first, withdrawn ones among them. */
  list(before: string | null, limit: number): Promise<ListPage<ListedVersion, string>> {
    const now = this.#ports.clock.now();
    return this.#ports.unitOfWork.read(async ({ priceVersions }) => {
      const inForce = (await priceVersions.inForceAt(now))?.id ?? null;
      const versions = await priceVersions.list(before, limit + 1);
      const listed = versions.map((version) => ({
        version,
        status: priceVersionStatus(version, inForce, now),
      }));
      return cutPage(listed, limit, ({ version }) => version.id);
    });
  }

  /**
   * Takes a version out of the schedule before it is in force. Rejects as `unknown-price-version`, and as `prices-in-force` when
   * it is, or is within `WITHDRAWAL_NOTICE_MS`. A withdrawn version stays as it is.
   */
  withdraw(actor: Actor, id: string): Promise<ListedVersion> {
    const { unitOfWork, clock, ids } = this.#ports;
    return unitOfWork.run(async (stores) => {
      await versionOf(stores, id);
      await stores.priceVersions.nextRevision();
      const at = clock.now();
      const version = await versionOf(stores, id);
      if (version.withdrawnAt !== null) return { version, status: 'withdrawn' };
      if (!isWithdrawable(version, at)) throw new Rejected({ kind: 'prices-in-force' });
      await stores.priceVersions.withdraw(id, at);
      const withdrawn: PriceVersion = { ...version, withdrawnAt: at };
      await recordChange(stores, { id: ids.hex24(at), actor, at }, 'prices-withdrawn', null, {
        before: auditedVersion(version),
        after: auditedVersion(withdrawn),
      });
      return { version: withdrawn, status: 'withdrawn' };
    });
  }
}

async function pricePageOf(
  { priceVersions }: Pick<Stores, 'priceVersions'>,
  found: ListedVersion,
  { countryIso, page }: PricePageQuery,
): Promise<PricePage> {
  const { id } = found.version;
  const system = await priceVersions.systemPricesOf(id);
  return { listed: found, system, ...(await priceVersions.international(id, { countryIso }, page)) };
}

async function listed(
  { priceVersions }: Pick<Stores, 'priceVersions'>,
  version: PriceVersion,
  now: number,
): Promise<ListedVersion> {
  const inForce = (await priceVersions.inForceAt(now))?.id ?? null;
  return { version, status: priceVersionStatus(version, inForce, now) };
}

async function versionOf(
  { priceVersions }: Pick<Stores, 'priceVersions'>,
  id: string,
): Promise<PriceVersion> {
  const version = await priceVersions.find(id);
  if (version === null) throw new Rejected({ kind: 'unknown-price-version' });
  return version;
}
