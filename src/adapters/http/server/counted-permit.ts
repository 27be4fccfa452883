import { RequestRejected } from '../replies/http-error.ts';
import { OVERLOADED } from '../replies/known-errors.ts';
import { networkOf } from '../routing/client-address.ts';
import type { RequestPermit } from '../routing/request-permit.ts';
import type { KnownKeys } from './known-keys.ts';
import { queueKeyFor, type RequestQueues } from './request-queues.ts';

/** Where permits count their requests. */
export interface RequestCounts {
  /** Whether there was a place in all, which is taken then. */
  tryTake(): boolean;
  /** Gives that place back. */
  release(): void;
  /** Whether the project may have one more, which is counted then. */
  tryClaim(projectId: string): boolean;
  /** One request fewer of the network, and of the project when it was claimed for one. */
  end(network: string, projectId: string | null): void;
}

/** What the permits of a server share. */
export interface PermitParts {
  readonly queues: RequestQueues;
  /** Told of the key of each request that is claimed for a project. */
  readonly knownKeys: Pick<KnownKeys, 'note'>;
}

/** The permit of one request. */
export class CountedPermit implements RequestPermit {
  readonly address: string | undefined;
  readonly network: string;
  readonly #counts: RequestCounts;
  readonly #queues: RequestQueues;
  readonly #knownKeys: Pick<KnownKeys, 'note'>;
  #projectId: string | null = null;
  #isTaken = true;
  #hasEnded = false;

  constructor(
    counts: RequestCounts,
    { queues, knownKeys }: PermitParts,
    address: string | undefined,
    network: string,
  ) {
    this.address = address;
    this.network = network;
    this.#counts = counts;
    this.#queues = queues;
    this.#knownKeys = knownKeys;
  }

  get projectId(): string | null {
    return this.#projectId;
  }

  claimFor(projectId: string, apiKey: string | null): void {
    if (this.#projectId === projectId) return;
    if (apiKey !== null) this.#knownKeys.note(apiKey, projectId);
    if (!this.#counts.tryClaim(projectId)) throw new RequestRejected(OVERLOADED);
    this.#projectId = projectId;
  }

  suspend(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#counts.release();
  }

  resume(): void {
    if (!this.#counts.tryTake()) throw new RequestRejected(OVERLOADED);
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
    this.#counts.end(this.network, this.#projectId);
  }
}

/** The permit of a request that is served however many there are. */
export class FreePermit implements RequestPermit {
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
