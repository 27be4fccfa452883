import { randomBytes } from 'node:crypto';
import type { IdSource } from '../../application/ports/id-source.ts';
import { firstIdAt } from '../../domain/shared/id-time.ts';

const RANDOM_BYTES = 6;
const SECRET_BYTES = 20;
const RANDOM_HEX_DIGITS = 2 * RANDOM_BYTES;
/** Random bytes are drawn and written as hex in bulk: one call of each serves this many ids. */
const IDS_PER_DRAW = 1024;

/** Ids from the clock's milliseconds and the operating system's randomness. */
export class RandomIdSource implements IdSource {
  #pool = '';
  #used = 0;
  /** The newest id's time, and its digits: under load many ids have one millisecond, and making its digits takes longest. */
  #now = Number.NaN;
  #time = '';

  hex24(now: number): string {
    if (this.#used === this.#pool.length) {
      this.#pool = randomBytes(RANDOM_BYTES * IDS_PER_DRAW).toString('hex');
      this.#used = 0;
    }
    const random = this.#pool.slice(this.#used, this.#used + RANDOM_HEX_DIGITS);
    this.#used += RANDOM_HEX_DIGITS;
    if (now !== this.#now) {
      this.#now = now;
      this.#time = firstIdAt(now);
    }
    return this.#time + random;
  }

  secret(): string {
    return randomBytes(SECRET_BYTES).toString('hex');
  }

  fraction(): number {
    return Math.random();
  }
}
