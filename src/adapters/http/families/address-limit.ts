import { InFlight } from '../../../application/concurrency/in-flight.ts';
import { RequestRejected } from '../routing/http-error.ts';
import { OVERLOADED } from '../routing/known-errors.ts';

/** Counts what callers without a key have in progress, in all and by address. */
export class AddressLimit {
  readonly #max: number;
  readonly #byAddress: InFlight;
  #count = 0;

  constructor({ max, perAddressMax }: { readonly max: number; readonly perAddressMax: number }) {
    this.#max = max;
    this.#byAddress = new InFlight(perAddressMax);
  }

  /** Counts one more. What it returns ends it, and is to be called once. Throws `RequestRejected` with 503 when there are too many. */
  begin(network: string): () => void {
    const isFull = this.#count >= this.#max || !this.#byAddress.tryBegin(network);
    if (isFull) throw new RequestRejected(OVERLOADED);
    this.#count += 1;
    return () => {
      this.#count -= 1;
      this.#byAddress.end(network);
    };
  }
}
