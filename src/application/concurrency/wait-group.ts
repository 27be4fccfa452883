/**
 * Counts what is in flight, and lets callers wait until nothing is, or little. Use it for every such wait, instead of a counter
 * and a list of resolvers.
 */
export class WaitGroup {
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  /** Counts `count` more in flight. Each needs an `end`. */
  begin(count = 1): void {
    this.#inFlight += count;
  }

  /** Counts `count` less in flight. */
  end(count = 1): void {
    this.#inFlight -= count;
    // A caller that is woken early finds too much in flight, and waits again.
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing is in flight. Waits also for what begins before the caller runs again. */
  idle(): Promise<void> {
    return this.atMost(0);
  }

  /** Resolves when no more than `count` are in flight, as `idle` does. */
  async atMost(count: number): Promise<void> {
    while (this.#inFlight > count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
