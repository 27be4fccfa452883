import type { PriceVersionStore } from '../../../application/ports/stores/price-version-store.ts';
import type { CountryPrices } from '../../../domain/billing/price-list-builder.ts';
import type { PriceVersion } from '../../../domain/billing/price-version.ts';
import type { InternationalPrice, PriceList } from '../../../domain/billing/pricing.ts';
import type { SystemPrices } from '../../../domain/billing/system-prices.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
import { type Money, money } from '../../../domain/shared/money.ts';
import { offsetOf, type Page } from '../../../domain/shared/page.ts';
import type { Insert, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';

const INSERT = {
  table: 'price_versions',
  columns: {
    id: 'text',
    effective_from: 'bigint',
    created_at: 'bigint',
    actor: 'text',
    row_count: 'bigint',
    document: 'text',
  },
  orderBy: 'id',
} as const satisfies Insert<string>;

const INSERT_COUNTRIES = {
  table: 'price_version_countries',
  columns: {
    version_id: 'text',
    country_iso: 'text',
    rows_before: 'bigint',
    row_count: 'bigint',
    document: 'text',
  },
  orderBy: 'country_iso',
} as const satisfies Insert<string>;

const COLUMNS = 'id, effective_from, created_at, actor, row_count, withdrawn_at';

/** A list as it is stored; a map is a list of pairs. */
interface StoredList extends SystemPrices {
  readonly byCountryCode: readonly (readonly [string, Money])[];
}

/** A row without the names of its fields, which would be most of it. */
type StoredRow = readonly [string, string, string, string, string, string, number];

export class SqlPriceVersionStore implements PriceVersionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async revision(): Promise<number> {
    const [row] = await this.#session.query('SELECT revision FROM price_schedule WHERE id = 1');
    invariant(row !== undefined, 'the migration wrote the row of the schedule');
    return row.revision as number;
  }

  async nextRevision(): Promise<number> {
    await this.#session.execute('UPDATE price_schedule SET revision = revision + 1 WHERE id = 1');
    return this.revision();
  }

  async insert(version: PriceVersion, list: PriceList): Promise<void> {
    const { internationalByCountryCode, ...system } = list;
    const stored: StoredList = { ...system, byCountryCode: [...internationalByCountryCode] };
    await this.#session.insert(INSERT, [
      {
        id: version.id,
        effective_from: version.effectiveFrom,
        created_at: version.createdAt,
        actor: version.actor,
        row_count: version.rowCount,
        document: JSON.stringify(stored),
      },
    ]);
  }

  async insertCountries(versionId: string, countries: readonly CountryPrices[]): Promise<void> {
    await this.#session.insert(
      INSERT_COUNTRIES,
      countries.map(({ countryIso, rows, rowsBefore }) => ({
        version_id: versionId,
        country_iso: countryIso,
        rows_before: rowsBefore,
        row_count: rows.length,
        document: JSON.stringify(rows.map(toStored)),
      })),
    );
  }

  async withdraw(id: string, at: number): Promise<void> {
    await this.#session.execute('UPDATE price_versions SET withdrawn_at = ? WHERE id = ?', [at, id]);
  }

  async find(id: string): Promise<PriceVersion | null> {
    const [row] = await this.#session.query(`SELECT ${COLUMNS} FROM price_versions WHERE id = ?`, [id]);
    return row === undefined ? null : versionFrom(row);
  }

  async list(before: string | null, limit: number): Promise<readonly PriceVersion[]> {
    const rows = await this.#session.select((knex) =>
      knex('price_versions')
        .modify((query) => {
          if (before !== null) query.where('id', '<', before);
        })
        .select(COLUMNS.split(', '))
        .orderBy('id', 'desc')
        .limit(limit),
    );
    return rows.map(versionFrom);
  }

  async inForceAt(at: number): Promise<PriceVersion | null> {
    const [row] = await this.#session.query(
      `SELECT ${COLUMNS} FROM price_versions WHERE withdrawn_at IS NULL AND effective_from <= ?
       ORDER BY effective_from DESC, id DESC LIMIT 1`,
      [at],
    );
    return row === undefined ? null : versionFrom(row);
  }

  async scheduledAfter(instant: number): Promise<readonly PriceVersion[]> {
    const rows = await this.#session.query(
      `SELECT ${COLUMNS} FROM price_versions
       WHERE withdrawn_at IS NULL AND effective_from > ? ORDER BY effective_from, id`,
      [instant],
    );
    return rows.map(versionFrom);
  }

  async listOf(id: string): Promise<PriceList> {
    const { byCountryCode, ...system } = await this.#stored(id);
    return { ...system, internationalByCountryCode: new Map(byCountryCode) };
  }

  async systemPricesOf(id: string): Promise<SystemPrices> {
    const { byCountryCode: _, ...system } = await this.#stored(id);
    return system;
  }

  async countriesOf(id: string): Promise<readonly string[]> {
    const rows = await this.#session.query(
      'SELECT country_iso FROM price_version_countries WHERE version_id = ? ORDER BY country_iso',
      [id],
    );
    return rows.map((row) => row.country_iso as string);
  }

  async rowsOf(id: string, countryIso: string): Promise<readonly InternationalPrice[]> {
    const [row] = await this.#session.query(
      'SELECT country_iso, document FROM price_version_countries WHERE version_id = ? AND country_iso = ?',
      [id, countryIso],
    );
    return row === undefined ? [] : pricesFrom(row);
  }

  async international(
    id: string,
    { countryIso }: { readonly countryIso: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly rows: readonly InternationalPrice[] }> {
    const offset = offsetOf(page);
    if (countryIso !== null) {
      const rows = await this.rowsOf(id, countryIso);
      return { total: rows.length, rows: rows.slice(offset, offset + page.limit) };
    }
    const version = await this.find(id);
    const found = await this.#session.query(
      `SELECT country_iso, rows_before, document FROM price_version_countries
       WHERE version_id = ? AND rows_before < ? AND rows_before + row_count > ? ORDER BY country_iso`,
      [id, offset + page.limit, offset],
    );
    const [first] = found;
    const start = first === undefined ? 0 : offset - (first.rows_before as number);
    const rows = found.flatMap(pricesFrom).slice(start, start + page.limit);
    return { total: version?.rowCount ?? 0, rows };
  }

  async #stored(id: string): Promise<StoredList> {
    const [row] = await this.#session.query('SELECT document FROM price_versions WHERE id = ?', [id]);
    invariant(row !== undefined, `there is no price version ${id}`);
    return JSON.parse(row.document as string) as StoredList;
  }
}

function versionFrom(row: Row): PriceVersion {
  return {
    id: row.id as string,
    effectiveFrom: row.effective_from as number,
    createdAt: row.created_at as number,
    actor: row.actor as PriceVersion['actor'],
    rowCount: row.row_count as number,
    withdrawnAt: row.withdrawn_at as number | null,
  };
}

function toStored(row: InternationalPrice): StoredRow {
  const { continent, countryCode, country, networkId, network, mccMnc, price } = row;
  return [continent, countryCode, country, networkId, network, mccMnc, price];
}

function pricesFrom(row: Row): readonly InternationalPrice[] {
  const countryIso = row.country_iso as string;
  const stored = JSON.parse(row.document as string) as readonly StoredRow[];
  return stored.map(([continent, countryCode, country, networkId, network, mccMnc, price]) => ({
    continent,
    countryIso,
    countryCode,
    country,
    networkId,
    network,
    mccMnc,
    price: money(price),
  }));
}
