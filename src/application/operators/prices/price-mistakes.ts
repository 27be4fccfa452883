import type { FieldMistake } from '../../../domain/billing/price-row.ts';

/** Mistakes of one import that are told. */
export const PRICE_MISTAKES_MAX = 100;

/** What is wrong in a file of prices. */
export interface PriceMistake extends FieldMistake {
  /** Of the file, from 1; null for the file as a whole. */
  readonly line: number | null;
}

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
