import { keepNewest } from '../../application/keep-newest.ts';

/** The most numbers whose references are remembered. */
export const REFERENCED_NUMBERS_MAX = 10_000;

const REFERENCES = 256;

/**
 * The references that tie the parts of a long message together. A handset joins parts by sender and reference, so a number
 * gets each of the 256 values before it gets one again, while it is remembered.
 */
export class PartReferences {
  readonly #random: () => number;
  readonly #last = new Map<string, number>();

  /** `random` is at least 0 and below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** 0 to 255. */
  next(phoneNumber: string): number {
    const last = this.#last.get(phoneNumber) ?? Math.floor(this.#random() * REFERENCES);
    const reference = (last + 1) % REFERENCES;
    // The number moves to the end, so that the first one is the longest unused.
    this.#last.delete(phoneNumber);
    this.#last.set(phoneNumber, reference);
    keepNewest(this.#last, REFERENCED_NUMBERS_MAX);
    return reference;
  }
}
