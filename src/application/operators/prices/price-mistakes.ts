import type { PriceMistake } from '../../../domain/billing/price-row.ts';

/** Mistakes of one import that are told. */
export const PRICE_MISTAKES_MAX = 100;

/** Collects mistakes until there are `PRICE_MISTAKES_MAX`. */
export class PriceMistakes {
  readonly #found: PriceMistake[] = [];

  get all(): readonly PriceMistake[] {
    return this.#found;
  }

  get isFull(): boolean {
    return this.#found.length >= PRICE_MISTAKES_MAX;
  }

  add(line: number | null, field: string | null, problem: string): void {
    if (!this.isFull) this.#found.push({ line, field, problem });
  }
}
