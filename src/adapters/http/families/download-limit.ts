import type { Readable } from 'node:stream';
import { InFlight } from '../../../application/in-flight.ts';
import { REPORT_DOWNLOADS_MAX, REPORT_DOWNLOADS_PER_ADDRESS_MAX } from '../limits.ts';
import { RequestRejected } from '../routing/http-error.ts';
import { OVERLOADED } from '../routing/known-errors.ts';

/** Counts the downloads that a process serves, in all and by address. */
export class DownloadLimit {
  readonly #byAddress = new InFlight(REPORT_DOWNLOADS_PER_ADDRESS_MAX);
  #count = 0;

  /** Counts the download until its source is closed. Throws `RequestRejected` with 503, and closes it, when there are too many. */
  begin(network: string, source: Readable): void {
    if (this.#count >= REPORT_DOWNLOADS_MAX || !this.#byAddress.tryBegin(network)) {
      source.on('error', () => undefined).destroy();
      throw new RequestRejected(OVERLOADED);
    }
    this.#count += 1;
    source.once('close', () => {
      this.#count -= 1;
      this.#byAddress.end(network);
    });
  }
}
