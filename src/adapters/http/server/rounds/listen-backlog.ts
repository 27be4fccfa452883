import type { Server } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';
import { countLately, NONE_LATELY, periodAt, withOneMore } from '../../../../domain/shared/recent-count.ts';
import {
  ACCEPTING_MS,
  BACKLOG_ROUND_MS,
  BACKLOG_WORK_MS,
  FAST_CONNECTIONS,
  FAST_CONNECTIONS_MS,
} from '../../server-limits.ts';

/**
 * Node accepts one connection in a round of the event loop, however many wait. A hundred callers who send without end would keep
 * every new connection waiting for as long as a hundred full rounds take. So while connections may wait, rounds that only accept
 * follow each other for a short time, and then rounds that do other work too, which are short. It also tells when connections
 * come so fast that callers may leave and come again.
 */
export class ListenBacklog {
  #recent = NONE_LATELY;
  #accepted = 0;
  /** Since when each round has accepted one, in milliseconds; null when only one round has, or none. */
  #since: number | null = null;

  constructor(server: Server) {
    server.on('connection', () => {
      this.#recent = withOneMore(this.#recent, periodNow());
      if (this.#accepted > 0) this.#since ??= performance.now();
      this.#accepted += 1;
      // Until the end of the next round, in which one more would be accepted.
      setImmediate(() =>
        setImmediate(() => {
          this.#accepted -= 1;
          if (this.#accepted === 0) this.#since = null;
        }),
      );
    });
  }

  /** Whether more than `FAST_CONNECTIONS` have come lately. */
  get connectionsComeFast(): boolean {
    return countLately(this.#recent, periodNow()) > FAST_CONNECTIONS;
  }

  /**
   * What requests and bodies have of this round, in milliseconds: `msMax`, less while connections may wait, because one was
   * accepted in this round or in the one before, and nothing in a round that only accepts.
   */
  roundMs(msMax: number): number {
    if (this.#accepted === 0) return msMax;
    return this.#onlyAccepts() ? 0 : Math.min(msMax, BACKLOG_ROUND_MS);
  }

  #onlyAccepts(): boolean {
    if (this.#since === null) return false;
    return (performance.now() - this.#since) % (ACCEPTING_MS + BACKLOG_WORK_MS) < ACCEPTING_MS;
  }
}

function periodNow(): number {
  return periodAt(performance.now(), FAST_CONNECTIONS_MS);
}
