import { nextTick } from 'node:process';
import { setImmediate } from 'node:timers';
import { WAITING_REQUESTS_MS_MAX } from '../limits.ts';

/** A connection with a request that waits and may be served. */
export interface WaitingConnection {
  /** Serves one request, and adds the connection again when one more may be served. */
  serveNext(): void;
}

/**
 * Serves the waiting requests of all connections: round-robin over addresses, and over the connections of each. In one round
 * of the event loop it takes `WAITING_REQUESTS_MS_MAX`, so that other work is done in between however many connections wait.
 */
export class WaitingConnections {
  /** The address that is served next is the first. */
  readonly #byNetwork = new Map<string, WaitingConnection[]>();
  #isScheduled = false;

  /** Adds a connection that is not among them, behind the others of `network`. */
  add(network: string, connection: WaitingConnection): void {
    const connections = this.#byNetwork.get(network);
    if (connections === undefined) this.#byNetwork.set(network, [connection]);
    else connections.push(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#serve());
  }

  async #serve(): Promise<void> {
    const endsAt = performance.now() + WAITING_REQUESTS_MS_MAX;
    do {
      this.#serveNext();
      // What the request and its reply do without waiting for anything else counts as well.
      await new Promise<void>((resolve) => nextTick(resolve));
    } while (this.#byNetwork.size > 0 && performance.now() < endsAt);
    this.#isScheduled = false;
    if (this.#byNetwork.size > 0) this.#schedule();
  }

  #serveNext(): void {
    for (const [network, connections] of this.#byNetwork) {
      // The address goes behind the others.
      this.#byNetwork.delete(network);
      const next = connections.shift();
      if (connections.length > 0) this.#byNetwork.set(network, connections);
      next?.serveNext();
      return;
    }
  }
}
