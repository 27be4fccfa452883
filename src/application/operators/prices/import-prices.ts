import { auditedPriceChanges } from '../../../domain/audit/audited.ts';
import {
  type BuiltPrices,
  type CountryPrices,
  PriceListBuilder,
} from '../../../domain/billing/price-list-builder.ts';
import type { PriceVersion } from '../../../domain/billing/price-version.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import { recordChange } from '../../audit/record-change.ts';
import { nextRound } from '../../concurrency/next-round.ts';
import { Rejected } from '../../errors/rejected.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CsvDecoder } from '../../ports/csv-decoder.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { RequestHasher } from '../../ports/request-hasher.ts';
import type { Stores } from '../../ports/stores.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import { type PricePlan, planPrices, schedulePositionOf } from './plan-prices.ts';
import type { PriceSource } from './price-source.ts';
import { type PriceFormat, readPriceFile } from './read-price-file.ts';

/** A file of prices, and from when on they are in force: null for at once. */
export interface PriceImport {
  readonly format: PriceFormat;
  readonly bytes: Buffer;
  readonly effectiveFrom: number | null;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly requestHasher: RequestHasher;
  readonly csvDecoder: CsvDecoder;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Rows that are written before other work may run. */
const ROWS_PER_WRITE = 2_000;

/**
 * Imports of price lists. A preview says what an import changes; to apply it, an operator names the preview. Imports run one
 * after another in a process: each may hold 100,000 rows.
 */
export class ImportPrices {
  readonly #ports: Ports;
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * What the import would change. Changes nothing. Rejects as `invalid-prices`, `incomplete-prices`, `effective-from-past` and
   * `too-many-scheduled-prices`.
   */
  preview(given: PriceImport): Promise<PricePlan> {
    return this.#inOrder(() => this.#plan(given));
  }

  /**
   * Adds the import as a version, in one transaction with its audit record. Rejects as `preview` does, and as
   * `preview-outdated` when anything differs from what the preview with this digest said.
   */
  apply(actor: Actor, given: PriceImport, preview: string): Promise<PriceVersion> {
    return this.#inOrder(() => this.#apply(actor, given, preview));
  }

  /** Runs the work of one import when the one before it has ended. */
  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #plan({ format, bytes, effectiveFrom }: PriceImport): Promise<PricePlan> {
    const imported = await readPriceFile(format, bytes, this.#ports.csvDecoder);
    return planPrices(this.#ports, imported, effectiveFrom, this.#ports.clock.now());
  }

  async #apply(actor: Actor, given: PriceImport, preview: string): Promise<PriceVersion> {
    const { unitOfWork, clock, ids } = this.#ports;
    const plan = await this.#plan(given);
    if (plan.preview !== preview) throw new Rejected({ kind: 'preview-outdated' });
    return unitOfWork.run(async (stores) => {
      const { priceVersions } = stores;
      const revision = await priceVersions.nextRevision();
      const at = clock.now();
      const position = await schedulePositionOf(stores, given.effectiveFrom, at);
      if (revision !== plan.revision + 1 || position.replaces !== plan.replaces) {
        throw new Rejected({ kind: 'preview-outdated' });
      }
      const id = ids.hex24(at);
      if (plan.seeded !== null && (await priceVersions.list(null, 1)).length === 0) {
        await keepSeeded(stores, plan.seeded, ids.hex24(at - 1), at);
      }
      const version: PriceVersion = {
        id,
        effectiveFrom: given.effectiveFrom ?? at,
        createdAt: at,
        actor,
        rowCount: plan.rowCount,
        withdrawnAt: null,
      };
      await write(stores, version, plan);
      const change = { id: ids.hex24(at), actor, at };
      const { before, after } = auditedPriceChanges(plan.changes, plan.replaces, version);
      await recordChange(stores, change, 'prices-imported', null, { before, after });
      return version;
    });
  }
}

/** The list of a seed file becomes the first version, so that the history has all. */
async function keepSeeded(stores: Stores, source: PriceSource, id: string, at: number): Promise<void> {
  const builder = new PriceListBuilder();
  for (const countryIso of source.countries) builder.add(countryIso, await source.rowsOf(countryIso));
  const built = builder.build(source.system);
  const version: PriceVersion = {
    id,
    effectiveFrom: 0,
    createdAt: at,
    actor: 'seed',
    rowCount: built.rowCount,
    withdrawnAt: null,
  };
  await write(stores, version, built);
}

async function write(
  { priceVersions }: Pick<Stores, 'priceVersions'>,
  version: PriceVersion,
  { list, countries }: BuiltPrices,
): Promise<void> {
  await priceVersions.insert(version, list);
  let batch: CountryPrices[] = [];
  let rows = 0;
  for (const country of countries) {
    batch.push(country);
    rows += country.rows.length;
    if (rows < ROWS_PER_WRITE) continue;
    await priceVersions.insertCountries(version.id, batch);
    batch = [];
    rows = 0;
    await nextRound();
  }
  await priceVersions.insertCountries(version.id, batch);
}
