import { InFlight } from '../../../application/in-flight.ts';
import { REPORT_DOWNLOADS_MAX, REPORT_DOWNLOADS_PER_ADDRESS_MAX } from '../limits.ts';
import { RequestRejected } from '../routing/http-error.ts';
import { OVERLOADED } from '../routing/known-errors.ts';

/** Counts the downloads that a process serves, in all and by address. */
export class DownloadLimit {
  readonly #byAddress = new InFlight(REPORT_DOWNLOADS_PER_ADDRESS_MAX);
  #count = 0;

  /**
   * Counts one more. What it returns ends the download, and is to be called once. Throws `RequestRejected` with 503 when
   * there are too many.
   */
  begin(network: string): () => void {
    const isFull = this.#count >= REPORT_DOWNLOADS_MAX || !this.#byAddress.tryBegin(network);
    if (isFull) throw new RequestRejected(OVERLOADED);
    this.#count += 1;
    return () => {
      this.#count -= 1;
      this.#byAddress.end(network);
    };
  }
}
