import type { IncomingMessage } from 'node:http';
import { RoundTime } from '../../../application/concurrency/round-time.ts';
import { FairTurns } from './fair-turns.ts';

/** One piece in a round: what it takes to read it is not known when it begins. */
const ONE_PIECE_MS = 0;

/**
 * Lets the pieces of large request bodies follow each other while a round of the event loop has time for them, and then one in a
 * round, by address in rotation: however many clients send large bodies, wanted or not, other work is done in between.
 */
export class LargeBodyReading {
  readonly #networkOf: (request: IncomingMessage) => string;
  readonly #time: RoundTime;
  readonly #turns = new FairTurns(() => ONE_PIECE_MS);

  /** `msMax` has the milliseconds of a round. */
  constructor(msMax: () => number, networkOf: (request: IncomingMessage) => string) {
    this.#networkOf = networkOf;
    this.#time = new RoundTime(msMax, () => performance.now());
  }

  /** Whether the next piece may follow at once. If not, `goOn` is called when it may. */
  mayGoOn(request: IncomingMessage, goOn: () => void): boolean {
    if (this.#time.isLeft()) return true;
    this.#turns.add(this.#networkOf(request), { serveNext: goOn });
    return false;
  }
}
