import { auditedPriceChanges } from '../../../domain/audit/audited.ts';
import type { PriceVersion } from '../../../domain/billing/price-version.ts';
import type { Actor } from '../../../domain/shared/actor.ts';
import { recordChange } from '../../audit/record-change.ts';
import { insertPriceVersion } from '../../catalog/insert-price-version.ts';
import { Rejected } from '../../errors/rejected.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CsvDecoder } from '../../ports/csv-decoder.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { RequestHasher } from '../../ports/request-hasher.ts';
import type { UnitOfWork } from '../../ports/unit-of-work.ts';
import { type PricePlan, planPrices, schedulePositionOf } from './plan-prices.ts';
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
      const revision = await stores.priceVersions.nextRevision();
      const at = clock.now();
      const position = await schedulePositionOf(stores, given.effectiveFrom, at);
      if (revision !== plan.revision + 1 || position.replaces !== plan.replaces) {
        throw new Rejected({ kind: 'preview-outdated' });
      }
      const version: PriceVersion = {
        id: ids.hex24(at),
        effectiveFrom: given.effectiveFrom ?? at,
        createdAt: at,
        actor,
        rowCount: plan.rowCount,
        withdrawnAt: null,
      };
      await insertPriceVersion(stores, version, plan);
      const change = { id: ids.hex24(at), actor, at };
      const { before, after } = auditedPriceChanges(plan.changes, plan.replaces, version);
      await recordChange(stores, change, 'prices-imported', null, { before, after });
      return version;
    });
  }
}
