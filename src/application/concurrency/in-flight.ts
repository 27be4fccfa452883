/** Keys with nothing in flight that stay known: a key that comes and goes with each request costs less than a new one. */
const IDLE_KEYS_MAX = 100;

/** Counts what is in flight by key, so that no key takes more than its share. */
export class InFlight {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts one more of the key; false when it has as many as it may, and then nothing is counted. */
  tryBegin(key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#max) return false;
    this.#counts.set(key, count + 1);
    return true;
  }

  /** Call it once for each `tryBegin` that was true. */
  end(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1 || this.#counts.size <= IDLE_KEYS_MAX) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }
}
