/** How many small pieces may be counted. */
export interface PieceLimits {
  /** The most pieces, however small. */
  readonly smallMax: number;
  /** The fewest bytes of a piece on average when there are more: each is an object, and a call of the parser. */
  readonly bytesMin: number;
}

/** The limits of a response of another side. */
export const RESPONSE_PIECES: PieceLimits = { smallMax: 1_000, bytesMin: 64 };

/** Counts the pieces in which another side sends bodies. */
export class BodyPieces {
  readonly #limits: PieceLimits;
  #pieces = 0;
  #bytes = 0;

  constructor(limits: PieceLimits) {
    this.#limits = limits;
  }

  /** How many were counted. */
  get count(): number {
    return this.#pieces;
  }

  /** Counts one more piece. Returns false when there are too many small ones. */
  add(bytes: number): boolean {
    this.#pieces += 1;
    this.#bytes += bytes;
    return this.#pieces <= this.#limits.smallMax || this.#bytes >= this.#pieces * this.#limits.bytesMin;
  }
}
