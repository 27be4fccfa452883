import type { Server } from 'node:http';
import { setImmediate } from 'node:timers';

/**
 * Node accepts one connection in a round of the event loop, however many wait. So rounds have to be short while connections may
 * wait: a hundred callers who send without end would keep every new connection waiting for as long as a hundred full rounds take.
 */
export class ListenBacklog {
  #accepted = 0;

  constructor(server: Server) {
    server.on('connection', () => {
      this.#accepted += 1;
      // Until the end of the next round, in which one more would be accepted.
      setImmediate(() =>
        setImmediate(() => {
          this.#accepted -= 1;
        }),
      );
    });
  }

  /** Whether connections may wait: one was accepted in this round or in the one before. */
  get mayWait(): boolean {
    return this.#accepted > 0;
  }
}
