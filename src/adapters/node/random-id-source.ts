import { randomBytes, randomFillSync } from 'node:crypto';
import type { IdSource } from '../../application/ports/id-source.ts';

const RANDOM_BYTES = 6;
const TIME_HEX_DIGITS = 12;
const SECRET_BYTES = 20;
/** Random bytes are drawn in bulk: one system call serves this many ids. */
const IDS_PER_DRAW = 1024;

/** Ids from the clock's milliseconds and the operating system's randomness. */
export class RandomIdSource implements IdSource {
  readonly #pool = Buffer.alloc(RANDOM_BYTES * IDS_PER_DRAW);
  #used = this.#pool.length;

  hex24(now: number): string {
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const random = this.#pool.toString('hex', this.#used, this.#used + RANDOM_BYTES);
    this.#used += RANDOM_BYTES;
    return now.toString(16).padStart(TIME_HEX_DIGITS, '0').slice(-TIME_HEX_DIGITS) + random;
  }

  secret(): string {
    return randomBytes(SECRET_BYTES).toString('hex');
  }

  fraction(): number {
    return Math.random();
  }
}
