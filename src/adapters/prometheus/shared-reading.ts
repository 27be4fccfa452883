import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';

interface ReadingOptions<T> {
  readonly read: () => Promise<T>;
  readonly freshMs: number;
  readonly timeoutMs: number;
}

/**
 * A reading that costs the same however many ask: callers share the one in flight, and its result for `freshMs`. Null when
 * it failed or took longer than `timeoutMs`; one that goes on is waited for by the next caller, and not begun anew.
 */
export class SharedReading<T> {
  readonly #options: ReadingOptions<T>;
  #latest: { readonly result: T; readonly at: number } | null = null;
  #inFlight: Promise<T | null> | null = null;

  constructor(options: ReadingOptions<T>) {
    this.#options = options;
  }

  async get(): Promise<T | null> {
    const { freshMs, timeoutMs } = this.#options;
    if (this.#latest !== null && performance.now() - this.#latest.at < freshMs) return this.#latest.result;
    this.#inFlight ??= this.#read();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), timeoutMs);
    });
    try {
      return await Promise.race([this.#inFlight, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(): Promise<T | null> {
    try {
      const result = await this.#options.read();
      this.#latest = { result, at: performance.now() };
      return result;
    } catch {
      return null;
    } finally {
      this.#inFlight = null;
    }
  }
}
