import type { Clock } from './ports/clock.ts';

/** How long settings and prices may be used after they were read, in milliseconds; a change takes effect within it. */
export const SETTINGS_FRESH_MS = 2_000;

interface CacheOptions<Value> {
  readonly clock: Clock;
  /** How long a value may be used, in milliseconds since its read began. */
  readonly freshMs: number;
  /** The most keys kept; one more empties the cache. */
  readonly keysMax: number;
  /** Whether a value is kept; every value is by default. */
  readonly keeps?: (value: Value) => boolean;
  /** Whether a kept value is used for longer while its read fails; by default the failure is passed on. */
  readonly servesStale?: boolean;
}

interface Entry<Value> {
  readonly value: Value;
  readonly readAt: number;
  /** The last read failed: until one succeeds, nobody waits for the next. */
  readonly isStale: boolean;
}

/**
 * The cache inside a decorator of a port: a decorator implements the port, holds the wrapped one and reads it through
 * this cache. Callers with the same key share one read. The failure of a read is not kept.
 */
export class ReadThroughCache<Value> {
  readonly #options: CacheOptions<Value>;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #reads = new Map<string, Promise<Value>>();

  constructor(options: CacheOptions<Value>) {
    this.#options = options;
  }

  /** The kept value while it is fresh, else the result of `read`. Rejects when `read` does. */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#isFresh(entry)) return entry.value;
    const reading = this.#reads.get(key) ?? this.#read(key, read);
    if (entry?.isStale !== true) return reading;
    // Nobody waits for this read, and the next caller sees its result.
    reading.catch(() => undefined);
    return entry.value;
  }

  /** Whether a value is kept under the key, fresh or not. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  #isFresh({ readAt }: Entry<Value>): boolean {
    const age = this.#options.clock.now() - readAt;
    // A clock that was set back makes nothing younger.
    return age >= 0 && age < this.#options.freshMs;
  }

  #read(key: string, read: () => Promise<Value>): Promise<Value> {
    const readAt = this.#options.clock.now();
    const reading = read()
      .then(
        (value) => {
          this.#keep(key, { value, readAt, isStale: false });
          return value;
        },
        (error: unknown) => {
          const entry = this.#entries.get(key);
          if (entry === undefined || this.#options.servesStale !== true) throw error;
          this.#entries.set(key, { value: entry.value, readAt, isStale: true });
          return entry.value;
        },
      )
      .finally(() => this.#reads.delete(key));
    this.#reads.set(key, reading);
    return reading;
  }

  #keep(key: string, entry: Entry<Value>): void {
    const { keysMax, keeps } = this.#options;
    if (keeps !== undefined && !keeps(entry.value)) {
      this.#entries.delete(key);
      return;
    }
    if (!this.#entries.has(key) && this.#entries.size >= keysMax) this.#entries.clear();
    this.#entries.set(key, entry);
  }
}
