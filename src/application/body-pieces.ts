/** The fewest bytes of a piece on average, in a body of many pieces: each is an object, and a call of the parser. */
export const PIECE_BYTES_MIN = 64;
/** The most pieces of a body that may be smaller. */
export const SMALL_PIECES_MAX = 1_000;

/** Counts the pieces in which another side sends a body. */
export class BodyPieces {
  #pieces = 0;
  #bytes = 0;

  /** Counts one more piece. Returns false when the body comes in too many small pieces. */
  add(bytes: number): boolean {
    this.#pieces += 1;
    this.#bytes += bytes;
    return this.#pieces <= SMALL_PIECES_MAX || this.#bytes >= this.#pieces * PIECE_BYTES_MIN;
  }
}
