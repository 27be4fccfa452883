import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { Agent, type Dispatcher } from 'undici';
import { BodyPieces } from '../../application/body-pieces.ts';
import { FairQueue } from '../../application/concurrency/fair-queue.ts';
import { codeOrName } from '../../application/errors/error-text.ts';
import { GrowingBuffer } from '../../application/growing-buffer.ts';
import { PROVIDER_WAIT_MS } from '../../application/ports/channel-provider.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  PROVIDER_RESPONSE_MS,
  type ProviderHttp,
  type ProviderRequest,
  type ProviderResponse,
} from '../../application/ports/provider-http.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../domain/providers/submission-share.ts';
import type { LookupAll } from './name-lookup.ts';
import { providerConnector } from './provider-connector.ts';
import { ResponseRounds } from './response-rounds.ts';
import { PeerTime, PROVIDER_SHARES } from './tls/peer-time.ts';

/** More responses below 200 before the one that counts are a flood: they have no body that could be counted. */
const INFORMATIONAL_RESPONSES_MAX = 10;

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
const USER_AGENT = 'Barid/1.0';
const HOUSEKEEPING: Backlog = { priority: 'housekeeping', projectId: '' };

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
  readonly #deadlines: Deadlines;
  readonly #name: string;
  readonly #responses: ResponseRounds;
  /** The longest body that a request has allowed. */
  #bodyBytesMax = PROVIDER_RESPONSE_BYTES_MAX;
  readonly #agent: Agent;
  /** Undici would send what waits in the order of its calls. */
  readonly #waiting: FairQueue<Call>;
  #dispatchesSoon = false;
  /** Runs while requests wait: until the next one in flight is fresh no longer. */
  #freshTimer: NodeJS.Timeout | null = null;
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

  send(request: ProviderRequest): Promise<ProviderResponse> {
    if (!URL.canParse(request.url))
      return Promise.resolve({ kind: 'not-sent', reason: 'The URL is not one' });
    this.#bodyBytesMax = Math.max(this.#bodyBytesMax, request.responseBytesMax ?? 0);
    return new Promise((resolve) => {
      const settle = (response: ProviderResponse): void => {
        this.#release(call);
        resolve(response);
      };
      const call: Call = new Call(request, this.#deadlines, {
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

  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#onHandedOver = listener;
  }

  capacity(backlog: Backlog): ProviderCapacity {
    return this.#waiting.capacity(backlog, this.#free());
  }

  close(): Promise<void> {
    if (this.#freshTimer !== null) clearTimeout(this.#freshTimer);
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
    const next = (): Call | null => waiting.take(this.#free());
    for (let call = next(); call !== null; call = next()) {
      call.dispatch(this.#agent, { isLastOnConnection, endOfFlight: waiting.begin(call) });
      this.#onHandedOver(call.backlog);
    }
    if (waiting.isEmpty || this.#freshTimer !== null) return;
    const endsMs = waiting.freshEndsMs();
    if (endsMs === null) return;
    this.#freshTimer = setTimeout(() => {
      this.#freshTimer = null;
      this.#dispatch();
    }, Math.ceil(endsMs));
  }

  #free(): number {
    const { inFlight } = this.#waiting;
    return Math.min(PROVIDER_REQUESTS_MAX - this.#waiting.fresh(), PROVIDER_CONNECTIONS_MAX - inFlight);
  }

  #release(call: Call): void {
    if (call.endOfFlight === null) {
      this.#waiting.drop(call);
    } else {
      call.endOfFlight();
      this.#dispatchSoon();
    }
  }
}

function optionsOf(
  { method, url, headers = {}, body }: ProviderRequest,
  isLastOnConnection: boolean,
): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: `${pathname}${search}`,
    method,
    headers: { 'user-agent': USER_AGENT, ...headers },
    body: body ?? null,
    // Undici repeats an idempotent request on a broken connection: the other side may have acted on the first.
    idempotent: false,
    // Without it undici decides by the method.
    ...(isLastOnConnection ? { reset: true } : {}),
  };
}

type Deadlines = Readonly<Record<'timeoutMs' | 'waitMs', number>>;

/** How a call goes out. */
interface Flight {
  readonly isLastOnConnection: boolean;
  readonly endOfFlight: () => void;
}

/** One of `settle` and `responded` is called, once. */
interface CallEvents {
  readonly settle: (response: ProviderResponse) => void;
  /** A connection that was to be used again ended before anything of a response came; called before `settle`. */
  readonly brokenOff: () => void;
  /** The whole response came; it is read with `read` when there is time. */
  readonly responded: (read: () => ProviderResponse) => void;
}

/** One request and its response under one deadline. */
class Call implements Dispatcher.DispatchHandler {
  readonly #request: ProviderRequest;
  readonly #timeoutMs: number;
  readonly #events: CallEvents;
  readonly #deadline: NodeJS.Timeout;
  readonly #waitDeadline: NodeJS.Timeout;
  readonly #bytesMax: number;
  readonly #body: GrowingBuffer;
  readonly #pieces = new BodyPieces();
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #informational = 0;
  #endOfFlight: (() => void) | null = null;
  #isLastOnConnection = false;
  #isSettled = false;

  constructor(request: ProviderRequest, { timeoutMs, waitMs }: Deadlines, events: CallEvents) {
    this.#request = request;
    this.#bytesMax = request.responseBytesMax ?? PROVIDER_RESPONSE_BYTES_MAX;
    this.#body = new GrowingBuffer(this.#bytesMax);
    this.#timeoutMs = timeoutMs;
    this.#events = events;
    this.#deadline = setTimeout(() => this.#giveUp(), timeoutMs);
    this.#waitDeadline = setTimeout(
      () => this.#settle({ kind: 'limited', reason: 'More messages wait than the provider takes' }),
      waitMs,
    );
  }

  get backlog(): Backlog {
    return this.#request.backlog ?? HOUSEKEEPING;
  }

  /** Null while it waits for others. */
  get endOfFlight(): (() => void) | null {
    return this.#endOfFlight;
  }

  /** It is in flight until `endOfFlight` is called. */
  dispatch(agent: Agent, { isLastOnConnection, endOfFlight }: Flight): void {
    this.#endOfFlight = endOfFlight;
    this.#isLastOnConnection = isLastOnConnection;
    clearTimeout(this.#waitDeadline);
    try {
      agent.dispatch(optionsOf(this.#request, isLastOnConnection), this);
    } catch (error) {
      this.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** A connection is there, and the request goes out on it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error('The request came too late'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) {
      this.#status = status;
      return;
    }
    this.#informational += 1;
    if (this.#informational <= INFORMATIONAL_RESPONSES_MAX) return;
    this.#end({
      kind: 'unclear',
      reason: `More than ${INFORMATIONAL_RESPONSES_MAX} informational responses`,
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#pieces.add(chunk.length)) {
      this.#end({ kind: 'unclear', reason: 'The response comes in too many small pieces' });
    } else if (!this.#body.add(chunk)) {
      this.#end({ kind: 'unclear', reason: `The response has more than ${this.#bytesMax} bytes` });
    }
  }

  onResponseEnd(): void {
    if (!this.#takeEnd()) return;
    this.#events.responded(() => {
      const body = this.#body.bytes().toString('utf8');
      return { kind: 'responded', status: this.#status, body };
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const reason = `The connection failed: ${codeOrName(error)}`;
    const isBrokenOff =
      this.#controller !== null &&
      !this.#isLastOnConnection &&
      this.#status === 0 &&
      this.#informational === 0;
    if (isBrokenOff && !this.#isSettled) this.#events.brokenOff();
    this.#settle({ kind: this.#controller === null ? 'not-sent' : 'unclear', reason });
  }

  #giveUp(): void {
    const kind = this.#controller === null ? 'not-sent' : 'unclear';
    this.#end({ kind, reason: `No response within ${this.#timeoutMs} ms` });
  }

  /** Something may still be on its way on the connection: it is closed. */
  #end(response: ProviderResponse): void {
    this.#settle(response);
    this.#controller?.abort(new Error('The request has ended'));
  }

  #settle(response: ProviderResponse): void {
    if (this.#takeEnd()) this.#events.settle(response);
  }

  /** False when its end was taken before. */
  #takeEnd(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#waitDeadline);
    return true;
  }
}
