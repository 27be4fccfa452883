import { performance } from 'node:perf_hooks';
import { RoundTime } from '../../../application/concurrency/round-time.ts';
import { FairRounds, type Waiting } from './fair-rounds.ts';

/** One piece in a round: what it takes to read it is not known when it begins. */
const ONE_PIECE_MS = Number.MIN_VALUE;

/**
 * Lets what clients send be read while a round of the event loop has time for it, and then one piece in a round, by address in
 * rotation: however many clients connect or send large bodies, wanted or not, other work is done in between.
 */
export class FairReading {
  readonly #time: RoundTime;
  readonly #rounds: FairRounds;

  /** `msMax` has the milliseconds of a round; in one with 0 what waits is not read. */
  constructor(msMax: () => number) {
    this.#time = new RoundTime(msMax, () => performance.now());
    this.#rounds = new FairRounds(() => Math.min(msMax(), ONE_PIECE_MS));
  }

  /** Whether the next piece of a client in `network` may follow at once. If not, `reader` is served when it may. */
  mayGoOn(network: string, reader: Waiting): boolean {
    if (this.#time.isLeft()) return true;
    this.#rounds.add(network, reader);
    return false;
  }

  /** The client is gone. Does nothing when its reader does not wait. */
  drop(network: string, reader: Waiting): void {
    this.#rounds.drop(network, reader);
  }
}
