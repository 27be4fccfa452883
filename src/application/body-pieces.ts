/** How many small pieces a body may have. */
export interface PieceLimits {
  /** The most pieces of a body, however small. */
  readonly smallMax: number;
  /** The fewest bytes of a piece on average, in a body of more pieces: each is an object, and a call of the parser. */
  readonly bytesMin: number;
}

/** The limits of a response of another side. */
export const RESPONSE_PIECES: PieceLimits = { smallMax: 1_000, bytesMin: 64 };

/** Counts the pieces in which another side sends a body. */
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

  /** Counts one more piece. Returns false when the body comes in too many small pieces. */
  add(bytes: number): boolean {
    this.#pieces += 1;
    this.#bytes += bytes;
    return this.#pieces <= this.#limits.smallMax || this.#bytes >= this.#pieces * this.#limits.bytesMin;
  }
}
