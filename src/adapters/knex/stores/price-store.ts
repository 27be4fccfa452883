import type { Knex } from 'knex';
import type { PriceStore, StoredPrices } from '../../../application/ports/stores/catalog-stores.ts';
import type { InternationalPrice } from '../../../domain/billing/pricing.ts';
import { offsetOf, type Page } from '../../../domain/shared/page.ts';
import type { Insert, Row } from '../driver/connection.ts';
import type { Session } from '../driver/session.ts';
import { raisePriceRevision } from './price-version-store.ts';

/** There is one list, and its row has this id. */
const LIST_ID = 1;

const INSERT_LIST = {
  table: 'price_lists',
  columns: { id: 'bigint', document: 'text' },
  orderBy: 'id',
  onConflict: 'ON CONFLICT (id) DO UPDATE SET document = excluded.document',
} as const satisfies Insert<string>;

const INSERT_INTERNATIONAL = {
  table: 'international_prices',
  columns: { position: 'bigint', country_iso: 'text', mcc_mnc: 'text', network: 'text', document: 'text' },
  orderBy: 'position',
} as const satisfies Insert<string>;

export class SqlPriceStore implements PriceStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async replace({ international, ...list }: StoredPrices): Promise<void> {
    // The one row first: a transaction that replaces the list at the same time waits here.
    await this.#session.insert(INSERT_LIST, [{ id: LIST_ID, document: JSON.stringify(list) }]);
    await this.#session.execute('DELETE FROM international_prices');
    await raisePriceRevision(this.#session);
    await this.#session.insert(
      INSERT_INTERNATIONAL,
      international.map((price, position) => ({
        position,
        country_iso: price.countryIso,
        mcc_mnc: price.mccMnc,
        network: price.network,
        document: JSON.stringify(price),
      })),
    );
  }

  async load(): Promise<StoredPrices | null> {
    const [row] = await this.#session.select((knex) =>
      knex('price_lists').where({ id: LIST_ID }).select('document'),
    );
    if (row === undefined) return null;
    const international = await this.#session.select((knex) =>
      knex('international_prices').select('document').orderBy('position'),
    );
    const list = JSON.parse(row.document as string) as Omit<StoredPrices, 'international'>;
    return { ...list, international: international.map(fromRow) };
  }

  async international(
    { countryIso }: { readonly countryIso: string | null },
    page: Page,
  ): Promise<{ readonly total: number; readonly rows: readonly InternationalPrice[] }> {
    const filtered = (knex: Knex) =>
      knex('international_prices').where(countryIso === null ? {} : { country_iso: countryIso });
    const [counted] = await this.#session.select((knex) => filtered(knex).count({ total: '*' }));
    const rows = await this.#session.select((knex) =>
      filtered(knex)
        .select('document')
        .orderBy(['country_iso', 'mcc_mnc', 'network', 'position'])
        .limit(page.limit)
        .offset(offsetOf(page)),
    );
    return { total: counted?.total as number, rows: rows.map(fromRow) };
  }
}

function fromRow(row: Row): InternationalPrice {
  return JSON.parse(row.document as string) as InternationalPrice;
}
