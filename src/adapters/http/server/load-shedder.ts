import type { IncomingMessage } from 'node:http';
import { InFlight } from '../../../application/concurrency/in-flight.ts';
import { type ClientAddress, networkOf } from '../routing/client-address.ts';
import type { ServerLimits } from '../server-limits.ts';
import { CountedPermit, FreePermit, type PermitParts, type RequestCounts } from './counted-permit.ts';

type Limits = Pick<ServerLimits, 'requestsMax' | 'requestsPerProjectMax' | 'requestsPerAddressMax'>;

/** Counts the requests that are being served: in all, by project and by address. */
export class LoadShedder implements RequestCounts {
  readonly #clientAddress: ClientAddress;
  readonly #max: number;
  readonly #byAddress: InFlight;
  readonly #byProject: InFlight;
  readonly #permitParts: PermitParts;
  #count = 0;

  constructor(
    { requestsMax, requestsPerAddressMax, requestsPerProjectMax }: Limits,
    clientAddress: ClientAddress,
    permitParts: PermitParts,
  ) {
    this.#permitParts = permitParts;
    this.#clientAddress = clientAddress;
    this.#max = requestsMax;
    this.#byAddress = new InFlight({ perKey: requestsPerAddressMax });
    this.#byProject = new InFlight({ perKey: requestsPerProjectMax });
  }

  /** The permit of a new request; null when the process or the address has as many as it may. */
  begin(request: IncomingMessage): CountedPermit | null {
    if (this.#count >= this.#max) return null;
    const address = this.#clientAddress(request);
    const network = networkOf(address);
    if (!this.#byAddress.tryBegin(network)) return null;
    this.#count += 1;
    return new CountedPermit(this, this.#permitParts, address, network);
  }

  /** The permit of a request that is served however many there are. */
  beginFree(request: IncomingMessage): FreePermit {
    return new FreePermit(this.#clientAddress(request));
  }

  tryTake(): boolean {
    if (this.#count >= this.#max) return false;
    this.#count += 1;
    return true;
  }

  release(): void {
    this.#count -= 1;
  }

  tryClaim(projectId: string): boolean {
    return this.#byProject.tryBegin(projectId);
  }

  end(network: string, projectId: string | null): void {
    this.#byAddress.end(network);
    if (projectId !== null) this.#byProject.end(projectId);
  }
}
