import {
  type PriceChangeCounts,
  type RowChange,
  RowComparison,
} from '../../../domain/billing/price-changes.ts';
import { type BuiltPrices, PriceListBuilder } from '../../../domain/billing/price-list-builder.ts';
import { scheduleRejection } from '../../../domain/billing/price-version.ts';
import { completedPrices, systemPriceChanges } from '../../../domain/billing/system-prices.ts';
import { nextRound } from '../../concurrency/next-round.ts';
import { Rejected } from '../../errors/rejected.ts';
import type { RequestHasher } from '../../ports/request-hasher.ts';
import type { Stores } from '../../ports/stores.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import { storedSource } from './price-source.ts';
import type { ImportedPrices } from './read-price-file.ts';

/** Changed rows of a preview that are shown. */
export const PREVIEW_ROWS_MAX = 500;

/** What an import changes of the list that is in force when it takes effect. */
export interface PriceChanges extends PriceChangeCounts {
  readonly unchanged: number;
  /** Up to `PREVIEW_ROWS_MAX`, in the order of countries. */
  readonly rows: readonly RowChange[];
}

/** Where an import would stand in the schedule: equal positions have equal texts. */
export interface SchedulePosition {
  readonly revision: number;
  /** The version in force when the import takes effect; null when there is none. */
  readonly replaces: string | null;
}

/** A version that could be made of an import. */
export interface PricePlan extends SchedulePosition, BuiltPrices {
  /** A digest of the import, its instant and its position in the schedule. */
  readonly preview: string;
  readonly changes: PriceChanges;
}

/** The position of an import in the schedule. Rejects as `effective-from-past` and `too-many-scheduled-prices`. */
export async function schedulePositionOf(
  { priceVersions }: Pick<Stores, 'priceVersions'>,
  effectiveFrom: number | null,
  now: number,
): Promise<SchedulePosition> {
  const scheduled = await priceVersions.scheduledAfter(now);
  const rejection = scheduleRejection(effectiveFrom, scheduled.length, now);
  if (rejection !== null) throw new Rejected(rejection);
  const replaced = await priceVersions.inForceAt(effectiveFrom ?? now);
  return { revision: await priceVersions.revision(), replaces: replaced?.id ?? null };
}

/** Compares an import with the list that it replaces. It reads country by country, and other work goes on in between. */
export async function planPrices(
  { unitOfWork, requestHasher }: { readonly unitOfWork: UnitOfWork; readonly requestHasher: RequestHasher },
  { system: given, international }: ImportedPrices,
  effectiveFrom: number | null,
  now: number,
): Promise<PricePlan> {
  const position = await unitOfWork.read((stores) => schedulePositionOf(stores, effectiveFrom, now));
  const before = position.replaces === null ? null : await storedSource(unitOfWork, position.replaces);
  const system = completedPrices(given, before?.system ?? null);
  // The first list of an installation has every system price.
  if (system === null) throw new Rejected({ kind: 'incomplete-prices' });
  const builder = new PriceListBuilder();
  const comparison = new RowComparison({ rowsMax: PREVIEW_ROWS_MAX });
  const content = [position.revision, position.replaces, effectiveFrom, JSON.stringify(system)];
  const names = new Set([...(before?.countries ?? []), ...(international?.keys() ?? [])]);
  for (const countryIso of [...names].sort()) {
    const earlier = (await before?.rowsOf(countryIso)) ?? [];
    const later = international === null ? earlier : (international.get(countryIso) ?? []);
    comparison.add(earlier, later);
    await nextRound();
    builder.add(countryIso, later);
    if (later.length > 0) content.push(requestHasher.digest(JSON.stringify(later)));
  }
  const changes = { system: systemPriceChanges(before?.system ?? null, system), ...comparison.result() };
  const preview = requestHasher.digest(JSON.stringify(content));
  return { ...position, ...builder.build(system), preview, changes };
}
