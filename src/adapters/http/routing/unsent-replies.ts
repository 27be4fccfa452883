import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers';
import { InFlight } from '../../../application/concurrency/in-flight.ts';
import { UNSENT_REPLY_COUNTED_MS } from '../limits.ts';
import { RequestRejected } from '../replies/http-error.ts';
import { OVERLOADED } from '../replies/known-errors.ts';

const ALL = '';

/**
 * Long replies on their way to their clients, counted by address and in all. Among all, one counts for
 * `UNSENT_REPLY_COUNTED_MS` beyond its end.
 */
export class UnsentReplies {
  readonly #ofAddresses: InFlight;
  readonly #recent: InFlight;

  constructor({ perAddress, all }: { readonly perAddress: number; readonly all: number }) {
    this.#ofAddresses = new InFlight({ perKey: perAddress });
    this.#recent = new InFlight({ perKey: all });
  }

  /** Throws `RequestRejected` with 503 when the address or all have as many as they may. */
  count(response: ServerResponse, network: string): void {
    // A response that is destroyed already tells nobody of its close.
    if (response.destroyed) return;
    if (!this.#ofAddresses.tryBegin(network)) throw new RequestRejected(OVERLOADED);
    if (!this.#recent.tryBegin(ALL)) {
      this.#ofAddresses.end(network);
      throw new RequestRejected(OVERLOADED);
    }
    response.once('close', () => {
      this.#ofAddresses.end(network);
      setTimeout(() => this.#recent.end(ALL), UNSENT_REPLY_COUNTED_MS).unref();
    });
  }
}
