/**
 * Counts what is in flight, and lets others wait until nothing is. The one way to wait for idleness: use it instead of a
 * counter and a list of resolvers.
 */
export class IdleGate {
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
    if (!this.isIdle) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing is in flight; what begins before the caller runs again is waited for too. */
  async idle(): Promise<void> {
    while (!this.isIdle) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
