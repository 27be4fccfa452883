import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { Agent } from 'undici';
import { PROVIDER_WAIT_MS } from '../../../application/ports/channel-provider.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  PROVIDER_RESPONSE_MS,
  type ProviderHttp,
  type ProviderRequest,
  type ProviderResponse,
} from '../../../application/ports/provider-http.ts';
import { FairQueue } from '../../../application/providers/fair-queue.ts';
import type { Backlog } from '../../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../../domain/providers/submit-result.ts';
import type { LookupAll } from '../name-lookup.ts';
import { PeerTime, PROVIDER_SHARES } from '../tls/peer-time.ts';
import { type CallDeadlines, ProviderCall } from './provider-call.ts';
import { providerConnector } from './provider-connector.ts';
import { ResponseRounds } from './response-rounds.ts';

/** Fresh requests in flight to one provider; more wait. One that gets no response for long takes no place of others. */
export const PROVIDER_REQUESTS_MAX = 64;
/** Requests in flight to one provider in all, each on a connection of its own. */
export const PROVIDER_CONNECTIONS_MAX = 256;

/**
 * Requests on one connection: a provider that sends one response too many has each later request on it taken for the one before,
 * and nothing in HTTP tells that.
 */
export const PROVIDER_REQUESTS_PER_CONNECTION_MAX = 100;

/**
 * After a connection that ended in place of a response, each request is the last one on its connection for this time, in
 * milliseconds: some providers close each connection behind its first response, and a request that goes out just then is lost.
 */
const LAST_ON_CONNECTION_MS = 300_000;

/** A request that waited begins early enough to get its response. */
const CONNECT_TIMEOUT_MS = 3_000;

interface UndiciProviderHttpOptions {
  /** Of the provider. */
  readonly name?: string;
  /** Those that all providers of the process share. */
  readonly responses?: ResponseRounds;
  /** That of all providers of the process. */
  readonly peerTime?: PeerTime;
  /** The deadline of one request, the wait for a connection included, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long a request waits while others have the connections, in milliseconds. */
  readonly waitMs?: number;
  /** A request in flight for longer takes no place of others, in milliseconds. */
  readonly freshMs?: number;
  /** In place of `LAST_ON_CONNECTION_MS`. */
  readonly lastOnConnectionMs?: number;
  /** Trusted instead of the system's certificate authorities, in PEM. */
  readonly ca?: string;
  /** Of the provider's name; that of `connectPeer` when absent. */
  readonly lookup?: LookupAll;
}

/** The HTTP client of one provider. Certificates and names are verified; the addresses are an operator's own choice. */
export class UndiciProviderHttp implements ProviderHttp {
  readonly #deadlines: CallDeadlines;
  readonly #name: string;
  readonly #responses: ResponseRounds;
  /** The longest body that a request has allowed. */
  #bodyBytesMax = PROVIDER_RESPONSE_BYTES_MAX;
  readonly #agent: Agent;
  /** Undici would send what waits in the order of its calls. */
  readonly #waiting: FairQueue<ProviderCall>;
  #dispatchesSoon = false;
  /** Runs while requests wait: until the next one in flight is fresh no longer, or a rate allows one. */
  #timer: NodeJS.Timeout | null = null;
  readonly #lastOnConnectionMs: number;
  /** Until then each request is the last one on its connection. */
  #lastOnConnectionUntil = 0;
  #onHandedOver: (backlog: Backlog) => void = () => {};

  constructor({
    name = '',
    responses = new ResponseRounds(),
    peerTime = new PeerTime(PROVIDER_SHARES),
    timeoutMs = PROVIDER_RESPONSE_MS,
    waitMs = PROVIDER_WAIT_MS,
    freshMs,
    lastOnConnectionMs = LAST_ON_CONNECTION_MS,
    ca,
    lookup,
  }: UndiciProviderHttpOptions = {}) {
    this.#waiting = new FairQueue(() => performance.now(), freshMs);
    this.#lastOnConnectionMs = lastOnConnectionMs;
    this.#name = name;
    this.#responses = responses;
    this.#deadlines = { timeoutMs, waitMs };
    this.#agent = new Agent({
      connections: PROVIDER_CONNECTIONS_MAX,
      pipelining: 1,
      connect: providerConnector({
        name,
        peerTime,
        timeoutMs: CONNECT_TIMEOUT_MS,
        ca: ca ?? null,
        bodyBytesMax: () => this.#bodyBytesMax,
        lookup,
      }),
      // Undici counts those after the first.
      maxRequestsPerClient: PROVIDER_REQUESTS_PER_CONNECTION_MAX - 1,
      // These two only measure silence; the deadline measures all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** The promise is the one that is settled here: the caller notes the result before the next request goes out. */
  send(request: ProviderRequest): Promise<ProviderResponse> {
    if (!URL.canParse(request.url))
      return Promise.resolve({ kind: 'not-sent', reason: 'The URL is not one' });
    this.#bodyBytesMax = Math.max(this.#bodyBytesMax, request.responseBytesMax ?? 0);
    return new Promise<ProviderResponse>((resolve) => {
      const settle = (settled: ProviderResponse): void => {
        // First: what the caller notes counts for what goes out next.
        resolve(settled);
        this.#release(call);
      };
      const call: ProviderCall = new ProviderCall(request, this.#deadlines, {
        settle,
        brokenOff: () => {
          this.#lastOnConnectionUntil = performance.now() + this.#lastOnConnectionMs;
        },
        // Until then it has its place: a provider has no more responses that wait than requests in flight.
        responded: (read) => this.#responses.add(this.#name, () => settle(read())),
      });
      this.#waiting.add(call);
      this.#dispatchSoon();
    });
  }

  noteResult(projectId: string, response: ProviderResponse, result: SubmitResult): void {
    if (response.kind === 'responded') this.#waiting.noteResult(projectId, result);
  }

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#onHandedOver = listener;
  }

  capacity(backlog: Backlog): ProviderCapacity {
    return this.#waiting.capacity(backlog, this.#free());
  }

  close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    return this.#agent.destroy();
  }

  /** With the requests that are made until then, the most urgent first. */
  #dispatchSoon(): void {
    if (this.#dispatchesSoon) return;
    this.#dispatchesSoon = true;
    queueMicrotask(() => {
      this.#dispatchesSoon = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const waiting = this.#waiting;
    const isLastOnConnection = performance.now() < this.#lastOnConnectionUntil;
    const next = (): ProviderCall | null => waiting.take(this.#free());
    for (let call = next(); call !== null; call = next()) {
      call.dispatch(this.#agent, { isLastOnConnection, endOfFlight: waiting.begin(call) });
      this.#onHandedOver(call.backlog);
    }
    if (!waiting.isEmpty) this.#dispatchLater();
  }

  /** What waits goes out when a rate allows it, or when a request in flight is fresh no longer. */
  #dispatchLater(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const waits = [this.#waiting.heldByRateMs(), this.#waiting.inFlight.freshEndsMs()].filter(
      (ms) => ms !== null,
    );
    if (waits.length === 0) return;
    this.#timer = setTimeout(() => this.#dispatch(), Math.ceil(Math.min(...waits)));
  }

  #free(): number {
    const { inFlight } = this.#waiting;
    return Math.min(PROVIDER_REQUESTS_MAX - inFlight.fresh(), PROVIDER_CONNECTIONS_MAX - inFlight.count);
  }

  #release(call: ProviderCall): void {
    if (call.endOfFlight === null) {
      this.#waiting.drop(call);
    } else {
      call.endOfFlight();
      this.#dispatchSoon();
    }
  }
}
