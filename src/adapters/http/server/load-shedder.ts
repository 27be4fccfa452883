import { networkOf } from '../routing/client-address.ts';
import { RequestRejected } from '../routing/http-error.ts';
import { OVERLOADED } from '../routing/known-errors.ts';
import type { Place } from '../routing/place.ts';

/** Counts the requests that are being served, whatever connection they came over. */
export class LoadShedder {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** The place of a new request, which is counted from now on. The caller has asked `isFull` first. */
  begin(address: string | undefined): RequestPlace {
    return new RequestPlace(this, address);
  }

  add(requests: 1 | -1): void {
    this.#count += requests;
  }
}

/** The place of one request. */
class RequestPlace implements Place {
  readonly address: string | undefined;
  readonly network: string;
  readonly #shedder: LoadShedder;
  #isCounted = true;

  constructor(shedder: LoadShedder, address: string | undefined) {
    this.address = address;
    this.network = networkOf(address);
    this.#shedder = shedder;
    shedder.add(1);
  }

  leave(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    this.#shedder.add(-1);
  }

  comeBack(): void {
    if (this.#shedder.isFull) throw new RequestRejected(OVERLOADED);
    this.#isCounted = true;
    this.#shedder.add(1);
  }
}
