import { compareRows, rowKey } from '../../../domain/billing/price-changes.ts';
import { PRICE_ROW_FIELDS, readPriceRow } from '../../../domain/billing/price-row.ts';
import type { InternationalPrice } from '../../../domain/billing/pricing.ts';
import { readSystemPrices, type SystemPrices } from '../../../domain/billing/system-prices.ts';
import { nextRound } from '../../concurrency/next-round.ts';
import { Rejected } from '../../errors/rejected.ts';
import { type CsvDecoder, InvalidCsv } from '../../ports/csv-decoder.ts';
import { readJsonPrices } from './json-price-file.ts';
import { PriceMistakes } from './price-mistakes.ts';

const PRICE_FORMATS = ['csv', 'json'] as const;
export type PriceFormat = (typeof PRICE_FORMATS)[number];

/** International rows of one import, and those of one country. */
const PRICE_ROWS_MAX = 100_000;
const PRICE_ROWS_PER_COUNTRY_MAX = 5_000;

/** What an import names; what it leaves out stays as it is. */
export interface ImportedPrices {
  readonly system: Partial<SystemPrices>;
  /** By country, in the order of countries and rows; null when the import has no list of rows. */
  readonly international: ReadonlyMap<string, readonly InternationalPrice[]> | null;
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Reads a file of prices in UTF-8 while other work goes on. Rejects as `invalid-prices` with the mistakes of the file. */
export async function readPriceFile(
  format: PriceFormat,
  bytes: Buffer,
  csvDecoder: CsvDecoder,
): Promise<ImportedPrices> {
  const mistakes = new PriceMistakes();
  const rows = new ImportedRows(mistakes);
  const prices =
    format === 'csv'
      ? await readCsv(bytes, csvDecoder, rows, mistakes)
      : await readJson(bytes, rows, mistakes);
  if (prices === null || mistakes.all.length > 0) {
    throw new Rejected({ kind: 'invalid-prices', mistakes: mistakes.all });
  }
  return prices;
}

async function readCsv(
  bytes: Buffer,
  csvDecoder: CsvDecoder,
  rows: ImportedRows,
  mistakes: PriceMistakes,
): Promise<ImportedPrices> {
  let columns: readonly string[] | null = null;
  try {
    for await (const batch of csvDecoder(bytes)) {
      for (const { line, cells } of batch) {
        if (columns === null) columns = columnsOf(cells, line, mistakes);
        else if (cells.length !== columns.length) {
          mistakes.add(line, null, `has ${cells.length} cells, and the first line has ${columns.length}`);
        } else rows.add(line, Object.fromEntries(columns.map((name, index) => [name, cells[index]])));
        if (rows.isFull) break;
      }
      if (rows.isFull) break;
      await nextRound();
    }
  } catch (error) {
    if (!(error instanceof InvalidCsv)) throw error;
    mistakes.add(error.line, null, error.message);
  }
  // Of a file that is no csv some lines were not read, the header perhaps.
  if (mistakes.all.length === 0 && columns === null) mistakes.add(1, null, 'the file has no header');
  else if (mistakes.all.length === 0 && rows.isEmpty) mistakes.add(null, null, 'the file has no rows');
  return { system: {}, international: await rows.byCountry() };
}

/** The header, in any order. A mistake in it makes the rows meaningless, so that they are not read. */
function columnsOf(cells: readonly string[], line: number, mistakes: PriceMistakes): readonly string[] {
  const known: readonly string[] = PRICE_ROW_FIELDS;
  const before = mistakes.all.length;
  for (const name of known)
    if (!cells.includes(name)) mistakes.add(line, name, 'the header lacks the column');
  cells.forEach((name, index) => {
    if (!known.includes(name)) mistakes.add(line, name.slice(0, 64), 'is not a column of the price list');
    else if (cells.indexOf(name) !== index) mistakes.add(line, name, 'the header has the column twice');
  });
  if (mistakes.all.length > before) throw new Rejected({ kind: 'invalid-prices', mistakes: mistakes.all });
  return cells;
}

async function readJson(
  bytes: Buffer,
  rows: ImportedRows,
  mistakes: PriceMistakes,
): Promise<ImportedPrices | null> {
  const decoded = bytes.toString('utf8');
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  const { head, hasRows, hasOtherRows } = await readJsonPrices(text, ({ line, value }) => {
    if (value === undefined) mistakes.add(line, null, 'is no JSON object of a row');
    else rows.add(line, value);
    return !rows.isFull;
  });
  // Behind the last mistake that is told, the rest of the file was not read.
  if (rows.isFull) return null;
  const read = readSystemPrices(head);
  for (const { field, problem } of read.mistakes) mistakes.add(null, field, problem);
  if (hasOtherRows)
    mistakes.add(null, 'international', 'must be there once, written as "international": […]');
  return { system: read.prices, international: hasRows ? await rows.byCountry() : null };
}

/** The rows of an import by country. */
class ImportedRows {
  readonly #mistakes: PriceMistakes;
  readonly #countries = new Map<string, InternationalPrice[]>();
  readonly #keys = new Set<string>();
  #count = 0;

  constructor(mistakes: PriceMistakes) {
    this.#mistakes = mistakes;
  }

  /** Whether more rows would change nothing: there are too many rows, or too many mistakes. */
  get isFull(): boolean {
    return this.#mistakes.isFull || this.#count > PRICE_ROWS_MAX;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(line: number, given: unknown): void {
    this.#count += 1;
    if (this.#count > PRICE_ROWS_MAX) {
      this.#mistakes.add(line, null, `the file has more than ${PRICE_ROWS_MAX} rows`);
      return;
    }
    const read = readPriceRow(given);
    if (read.kind === 'mistakes') {
      for (const { field, problem } of read.mistakes) this.#mistakes.add(line, field, problem);
      return;
    }
    const { row } = read;
    const key = rowKey(row);
    const ofCountry = this.#countries.get(row.countryIso) ?? [];
    if (this.#keys.has(key)) {
      this.#mistakes.add(line, 'networkId', 'the country has this network twice with one code and MCC-MNC');
    } else if (ofCountry.length === PRICE_ROWS_PER_COUNTRY_MAX) {
      this.#mistakes.add(line, 'countryIso', `has more than ${PRICE_ROWS_PER_COUNTRY_MAX} rows`);
    }
    this.#keys.add(key);
    ofCountry.push(row);
    this.#countries.set(row.countryIso, ofCountry);
  }

  async byCountry(): Promise<ReadonlyMap<string, readonly InternationalPrice[]>> {
    const sorted = new Map<string, readonly InternationalPrice[]>();
    for (const countryIso of [...this.#countries.keys()].sort()) {
      sorted.set(countryIso, (this.#countries.get(countryIso) ?? []).sort(compareRows));
      await nextRound();
    }
    return sorted;
  }
}
