import type { IncomingMessage } from 'node:http';
import { InFlight } from '../../../application/concurrency/in-flight.ts';
import { apiKeyFromHeader } from '../../../domain/access/api-key.ts';
import type { ServerLimits } from '../limits.ts';
import { RequestRejected } from '../replies/http-error.ts';
import { OVERLOADED } from '../replies/known-errors.ts';
import { type ClientAddress, networkOf } from '../routing/client-address.ts';
import type { RequestPermit } from '../routing/request-permit.ts';
import type { QueueKey, RequestQueues } from './request-queues.ts';

type Limits = Pick<ServerLimits, 'requestsMax' | 'requestsPerProjectMax' | 'requestsPerAddressMax'>;

/** The API keys by which projects are known before they are admitted; the one that was shown first is forgotten for one more. */
export const KNOWN_KEYS_MAX = 10_000;

/** Counts the requests that are being served: in all, by project and by address. */
export class LoadShedder {
  readonly #clientAddress: ClientAddress;
  readonly #max: number;
  readonly #byAddress: InFlight;
  readonly #byProject: InFlight;
  readonly #queues: RequestQueues;
  /** Projects by their keys. */
  readonly #known = new Map<string, string>();
  #count = 0;

  constructor(
    { requestsMax, requestsPerAddressMax, requestsPerProjectMax }: Limits,
    clientAddress: ClientAddress,
    queues: RequestQueues,
  ) {
    this.#queues = queues;
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
    return new CountedPermit({ shedder: this, queues: this.#queues }, address, network);
  }

  /** The permit of a request that is served however many there are. */
  beginFree(request: IncomingMessage): FreePermit {
    return new FreePermit(this.#clientAddress(request));
  }

  /**
   * Whom a request waits with before it is admitted: its project is known by a key that was admitted before. One that has been
   * revoked since is known still, and is rejected as soon.
   */
  queueKeyOf(request: IncomingMessage): QueueKey {
    const apiKey = apiKeyFromHeader(request.headers.authorization);
    const projectId = apiKey === null ? undefined : this.#known.get(apiKey);
    return queueKeyFor(projectId ?? null, networkOf(this.#clientAddress(request)));
  }

  /** Notes that a request with the key was admitted for the project. */
  noteKey(apiKey: string, projectId: string): void {
    if (this.#known.get(apiKey) === projectId) return;
    const [oldest = ''] = this.#known.keys();
    if (this.#known.size >= KNOWN_KEYS_MAX) this.#known.delete(oldest);
    this.#known.set(apiKey, projectId);
  }

  /** Whether there was a place in all, which is taken then. */
  tryTake(): boolean {
    if (this.#count >= this.#max) return false;
    this.#count += 1;
    return true;
  }

  release(): void {
    this.#count -= 1;
  }

  /** Whether the project may have one more, which is counted then. */
  tryClaim(projectId: string): boolean {
    return this.#byProject.tryBegin(projectId);
  }

  end(network: string, projectId: string | null): void {
    this.#byAddress.end(network);
    if (projectId !== null) this.#byProject.end(projectId);
  }
}

function queueKeyFor(projectId: string | null, network: string): QueueKey {
  return projectId === null ? { key: network, group: 'unknown' } : { key: projectId, group: 'project' };
}

/** The permit of one request. */
class CountedPermit implements RequestPermit {
  readonly address: string | undefined;
  readonly network: string;
  readonly #shedder: LoadShedder;
  readonly #queues: RequestQueues;
  #projectId: string | null = null;
  #isTaken = true;
  #hasEnded = false;

  constructor(
    { shedder, queues }: { readonly shedder: LoadShedder; readonly queues: RequestQueues },
    address: string | undefined,
    network: string,
  ) {
    this.address = address;
    this.network = network;
    this.#shedder = shedder;
    this.#queues = queues;
  }

  get projectId(): string | null {
    return this.#projectId;
  }

  claimFor(projectId: string, apiKey: string | null): void {
    if (this.#projectId === projectId) return;
    if (apiKey !== null) this.#shedder.noteKey(apiKey, projectId);
    if (!this.#shedder.tryClaim(projectId)) throw new RequestRejected(OVERLOADED);
    this.#projectId = projectId;
  }

  suspend(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#shedder.release();
  }

  resume(): void {
    if (!this.#shedder.tryTake()) throw new RequestRejected(OVERLOADED);
    this.#isTaken = true;
  }

  waitToParse(bytes: number): Promise<void> | null {
    return this.#queues.waitToParse(queueKeyFor(this.#projectId, this.network), bytes);
  }

  waitForRound(): Promise<void> | null {
    return this.#queues.waitForRound(queueKeyFor(this.#projectId, this.network));
  }

  throughProjectGate<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#projectId === null ? work() : this.#queues.throughProjectGate(this.#projectId, work);
  }

  /**
   * When the work on the request is over, and its reply too when that is streamed or long. A short one may still be on its way
   * to a slow client. Only the first call counts.
   */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.suspend();
    this.#shedder.end(this.network, this.#projectId);
  }
}

/** The permit of a request that is served however many there are. */
class FreePermit implements RequestPermit {
  readonly address: string | undefined;
  readonly network: string;
  readonly projectId = null;

  constructor(address: string | undefined) {
    this.address = address;
    this.network = networkOf(address);
  }

  claimFor(): void {}
  suspend(): void {}
  resume(): void {}
  waitToParse(): null {
    return null;
  }
  waitForRound(): null {
    return null;
  }
  throughProjectGate<Result>(work: () => Promise<Result>): Promise<Result> {
    return work();
  }
  end(): void {}
}
