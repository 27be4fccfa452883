import { clearTimeout, setTimeout } from 'node:timers';
import { Agent, type Dispatcher } from 'undici';
import { codeOrName } from '../../application/errors/error-text.ts';
import { GrowingBuffer } from '../../application/growing-buffer.ts';
import {
  PROVIDER_RESPONSE_BYTES_MAX,
  PROVIDER_RESPONSE_MS,
  type ProviderHttp,
  type ProviderRequest,
  type ProviderResponse,
} from '../../application/ports/provider-http.ts';

/** More responses below 200 before the one that counts are a flood: they have no body that could be counted. */
const INFORMATIONAL_RESPONSES_MAX = 10;

/** Requests in flight to one provider; more wait for a connection. */
export const PROVIDER_CONNECTIONS_MAX = 64;

const CONNECT_TIMEOUT_MS = 5_000;
const USER_AGENT = 'Barid/1.0';

interface UndiciProviderHttpOptions {
  /** The deadline of one request, the wait for a connection included, in milliseconds. */
  readonly timeoutMs?: number;
  /** Trusted instead of the system's certificate authorities, in PEM. */
  readonly ca?: string;
}

/** The HTTP client of one provider. Certificates and names are verified; the addresses are an operator's own choice. */
export class UndiciProviderHttp implements ProviderHttp {
  readonly #timeoutMs: number;
  readonly #agent: Agent;

  constructor({ timeoutMs = PROVIDER_RESPONSE_MS, ca }: UndiciProviderHttpOptions = {}) {
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({
      connections: PROVIDER_CONNECTIONS_MAX,
      pipelining: 1,
      connect: { timeout: CONNECT_TIMEOUT_MS, ...(ca === undefined ? {} : { ca }) },
      // These two only measure silence; the deadline measures all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  send(request: ProviderRequest): Promise<ProviderResponse> {
    if (!URL.canParse(request.url))
      return Promise.resolve({ kind: 'not-sent', reason: 'The URL is not one' });
    return new Promise((resolve) => {
      const call = new Call(request, this.#timeoutMs, resolve);
      try {
        this.#agent.dispatch(optionsOf(request), call);
      } catch (error) {
        call.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function optionsOf({ method, url, headers = {}, body }: ProviderRequest): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: `${pathname}${search}`,
    method,
    headers: { 'user-agent': USER_AGENT, ...headers },
    body: body ?? null,
    // Undici repeats an idempotent request on a broken connection: the other side may have acted on the first.
    idempotent: false,
  };
}

/** One request and its response under one deadline. */
class Call implements Dispatcher.DispatchHandler {
  readonly #timeoutMs: number;
  readonly #resolve: (response: ProviderResponse) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #bytesMax: number;
  readonly #body: GrowingBuffer;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #informational = 0;
  #isSettled = false;

  constructor(
    { responseBytesMax = PROVIDER_RESPONSE_BYTES_MAX }: ProviderRequest,
    timeoutMs: number,
    resolve: (response: ProviderResponse) => void,
  ) {
    this.#bytesMax = responseBytesMax;
    this.#body = new GrowingBuffer(responseBytesMax);
    this.#timeoutMs = timeoutMs;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => this.#giveUp(), timeoutMs);
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
    if (this.#body.add(chunk)) return;
    this.#end({ kind: 'unclear', reason: `The response has more than ${this.#bytesMax} bytes` });
  }

  onResponseEnd(): void {
    const body = this.#body.bytes().toString('utf8');
    this.#settle({ kind: 'responded', status: this.#status, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const reason = `The connection failed: ${codeOrName(error)}`;
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
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    this.#resolve(response);
  }
}
