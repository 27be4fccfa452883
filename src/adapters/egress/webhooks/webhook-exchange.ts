import { clearTimeout, setTimeout } from 'node:timers';
import { type Client, type Dispatcher, errors } from 'undici';
import type { DeliveryFailure, DeliveryResult } from '../../../domain/webhooks/delivery-result.ts';
import { RESPONSE_START_BYTES_MAX, responseStart } from '../../../domain/webhooks/response-start.ts';
import {
  AddressBlocked,
  ConnectTimeout,
  HandshakeFailed,
  NameBlocked,
  ResponseTooEarly,
  ResponseTooLong,
} from '../connection-errors.ts';
import type { ReceiverConnections } from './receiver-connections.ts';
import { parseRetryAfter } from './retry-after.ts';

const PROTOCOL_ERROR_CODES = /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|UND_ERR_INVALID_ARG)/;
const TLS_ERROR_CODES = /^(ERR_SSL_|ERR_TLS_|EPROTO)/;

export type ExchangeRequest = Dispatcher.DispatchOptions & { readonly origin: string };

/**
 * One request and its response under one deadline. The status decides: whatever happens to the body after it, a status
 * that came is the result.
 *
 * A receiver may close an idle connection in the moment in which it is used again. So a request that fails on such a
 * connection is sent once more, on a new one, within the same deadline.
 */
export class WebhookExchange implements Dispatcher.DispatchHandler {
  readonly #request: ExchangeRequest;
  readonly #connections: ReceiverConnections;
  readonly #projectId: string;
  readonly #resolve: (result: DeliveryResult) => void;
  readonly #deadline: NodeJS.Timeout;
  #client: Client;
  #isReused = true;
  #isSettled = false;
  #status: number | null = null;
  #retryAfterMs: number | null = null;
  /** The first bytes of the body. */
  readonly #body: Buffer[] = [];
  #bodyBytes = 0;

  /** Over connections of the project. `resolve` is called exactly once. */
  constructor(
    request: ExchangeRequest,
    connections: ReceiverConnections,
    projectId: string,
    timeoutMs: number,
    resolve: (result: DeliveryResult) => void,
  ) {
    this.#request = request;
    this.#connections = connections;
    this.#projectId = projectId;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => this.#fail('timeout'), timeoutMs);
    const idle = connections.takeIdle(request.origin, projectId);
    this.#isReused = idle !== null;
    this.#client = idle ?? connections.open(request.origin, projectId);
    this.#client.dispatch(request, this);
  }

  /** Tells undici which kind of handler this is. */
  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A 1xx comes before the response, and says nothing yet.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const left = RESPONSE_START_BYTES_MAX - this.#bodyBytes;
    if (left <= 0) return;
    const part = Buffer.from(chunk.subarray(0, left));
    this.#body.push(part);
    this.#bodyBytes += part.length;
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    this.#settle('protocol');
    this.#connections.keep(this.#client);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isSettled) return;
    const reason = failureOf(error);
    if (!this.#isReused || this.#status !== null || reason !== 'connection') {
      this.#fail(reason);
      return;
    }
    this.#connections.drop(this.#client);
    this.#isReused = false;
    this.#client = this.#connections.open(this.#request.origin, this.#projectId);
    this.#client.dispatch(this.#request, this);
  }

  /** Something may still be on its way on the connection. Closing it fails the request once more. */
  #fail(reason: DeliveryFailure): void {
    this.#settle(reason);
    this.#connections.drop(this.#client);
  }

  #settle(reason: DeliveryFailure): void {
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    const status = this.#status;
    if (status === null) {
      this.#resolve({ kind: 'failed', reason });
      return;
    }
    const responded = { kind: 'responded', status, retryAfterMs: this.#retryAfterMs } as const;
    this.#resolve(
      this.#bodyBytes === 0
        ? responded
        : { ...responded, responseStart: responseStart(Buffer.concat(this.#body)) },
    );
  }
}

function failureOf(error: Error): DeliveryFailure {
  if (error instanceof AddressBlocked) return 'address-refused';
  if (error instanceof NameBlocked) return 'name-refused';
  if (error instanceof HandshakeFailed) return 'tls';
  if (error instanceof ConnectTimeout) return 'timeout';
  if (error instanceof errors.HTTPParserError) return 'protocol';
  if (error instanceof ResponseTooLong || error instanceof ResponseTooEarly) return 'protocol';
  const code = 'code' in error ? String(error.code) : '';
  if (TLS_ERROR_CODES.test(code)) return 'tls';
  return PROTOCOL_ERROR_CODES.test(code) ? 'protocol' : 'connection';
}
