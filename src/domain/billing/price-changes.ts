import type { InternationalPrice } from './pricing.ts';
import type { SystemPriceChange } from './system-prices.ts';

/** An international row before and after; null where it is missing. */
export interface RowChange {
  readonly before: InternationalPrice | null;
  readonly after: InternationalPrice | null;
}

/** How much an import changes: system prices by name, international rows by number. */
export interface PriceChangeCounts {
  readonly system: readonly SystemPriceChange[];
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

/**
 * The rows that differ. A row is the same in both lists when country, calling code, network id and MCC-MNC are; of rows that
 * stand several times the first is compared with the first, and so on.
 */
export function rowChanges(
  before: readonly InternationalPrice[],
  after: readonly InternationalPrice[],
): readonly RowChange[] {
  const earlier = byKey(before);
  const later = byKey(after);
  const changes: RowChange[] = [];
  for (const [key, row] of later) {
    const was = earlier.get(key) ?? null;
    if (was === null || !isEqual(was, row)) changes.push({ before: was, after: row });
  }
  for (const [key, row] of earlier) {
    if (!later.has(key)) changes.push({ before: row, after: null });
  }
  return changes;
}

/** Compares two lists country by country, counts the rows, and keeps the first `rowsMax` that differ. */
export class RowComparison {
  readonly #rowsMax: number;
  readonly #rows: RowChange[] = [];
  readonly #counts = { added: 0, removed: 0, changed: 0, unchanged: 0 };

  constructor({ rowsMax }: { readonly rowsMax: number }) {
    this.#rowsMax = rowsMax;
  }

  /** The rows of the next country in both lists. */
  add(earlier: readonly InternationalPrice[], later: readonly InternationalPrice[]): void {
    const changes = later === earlier ? [] : rowChanges(earlier, later);
    const added = changes.filter((change) => change.before === null).length;
    const removed = changes.filter((change) => change.after === null).length;
    this.#counts.added += added;
    this.#counts.removed += removed;
    this.#counts.changed += changes.length - added - removed;
    this.#counts.unchanged += later.length + removed - changes.length;
    this.#rows.push(...changes.slice(0, this.#rowsMax - this.#rows.length));
  }

  /** Of all countries so far. */
  result() {
    return { ...this.#counts, rows: this.#rows as readonly RowChange[] };
  }
}

/** What makes two rows the same one. */
export function rowKey({ countryIso, countryCode, networkId, mccMnc }: InternationalPrice): string {
  return JSON.stringify([countryIso, countryCode, networkId, mccMnc]);
}

/** The order of specification 4.3 within a country: MCC-MNC, then network. */
export function compareRows(one: InternationalPrice, other: InternationalPrice): number {
  return compareTexts(one.mccMnc, other.mccMnc) || compareTexts(one.network, other.network);
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function byKey(rows: readonly InternationalPrice[]): ReadonlyMap<string, InternationalPrice> {
  const found = new Map<string, InternationalPrice>();
  const times = new Map<string, number>();
  for (const row of rows) {
    const key = rowKey(row);
    const count = times.get(key) ?? 0;
    times.set(key, count + 1);
    found.set(`${key} ${count}`, row);
  }
  return found;
}

function isEqual(one: InternationalPrice, other: InternationalPrice): boolean {
  return (
    one.price === other.price &&
    one.network === other.network &&
    one.country === other.country &&
    one.continent === other.continent
  );
}
