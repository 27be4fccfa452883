/** The first capacity after a second chunk, in bytes. */
const CAPACITY_MIN_BYTES = 1_024;

const EMPTY = Buffer.alloc(0);

/**
 * Bytes that arrive in chunks, up to a limit. Small chunks cost no more memory than their bytes: they are copied into one
 * buffer, and no buffer that a chunk is a view of stays in memory. A single chunk is kept as it is.
 */
export class GrowingBuffer {
  readonly #bytesMax: number;
  #held: Buffer = EMPTY;
  #size = 0;

  /** Holds up to `bytesMax` bytes. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Appends a chunk. Returns false when the limit is exceeded: then nothing is held any more, and nothing may be added. */
  add(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.#bytesMax) {
      this.#held = EMPTY;
      this.#size = 0;
      return false;
    }
    if (this.#size === 0) {
      this.#held = chunk;
    } else {
      // A chunk that is held has no space left, so nothing is written into it.
      if (size > this.#held.length) this.#grow(size);
      chunk.copy(this.#held, this.#size);
    }
    this.#size = size;
    return true;
  }

  /** What it takes in memory: more than what was added. */
  get capacity(): number {
    return this.#held.length;
  }

  /** All bytes in their order. They share memory with what is added later. */
  bytes(): Buffer {
    return this.#size === this.#held.length ? this.#held : this.#held.subarray(0, this.#size);
  }

  /** At least doubles, so that each byte is copied a few times at most. */
  #grow(size: number): void {
    const capacity = Math.min(Math.max(2 * size, CAPACITY_MIN_BYTES), this.#bytesMax);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#held.copy(grown, 0, 0, this.#size);
    this.#held = grown;
  }
}
