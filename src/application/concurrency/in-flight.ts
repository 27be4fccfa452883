/** How many keys stay known with nothing in flight: a key that comes and goes with each request costs less than a new one. */
const IDLE_KEYS_MAX = 100;

/** The most that may be in flight, of one key and in all. Without `all` there is no limit in all. */
export interface InFlightMaxima {
  readonly perKey: number;
  readonly all?: number;
}

/** Counts what is in flight by key, and in all, so that no key takes more than its share. */
export class InFlight {
  readonly #perKeyMax: number;
  readonly #max: number;
  readonly #counts = new Map<string, number>();
  #count = 0;

  constructor({ perKey, all = Number.POSITIVE_INFINITY }: InFlightMaxima) {
    this.#perKeyMax = perKey;
    this.#max = all;
  }

  /** Counts one more of the key. Returns false, and counts nothing, when the key or all have as many as they may. */
  tryBegin(key: string): boolean {
    const ofKey = this.#counts.get(key) ?? 0;
    if (ofKey >= this.#perKeyMax || this.#count >= this.#max) return false;
    this.#counts.set(key, ofKey + 1);
    this.#count += 1;
    return true;
  }

  /** Call it once for each `tryBegin` that was true. */
  end(key: string): void {
    const ofKey = this.#counts.get(key) ?? 0;
    if (ofKey > 1 || this.#counts.size <= IDLE_KEYS_MAX) this.#counts.set(key, ofKey - 1);
    else this.#counts.delete(key);
    this.#count -= 1;
  }
}
