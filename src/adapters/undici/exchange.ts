import { clearTimeout, setTimeout } from 'node:timers';
import { type Client, type Dispatcher, errors } from 'undici';
import type { WebhookAnswer } from '../../application/ports/webhook-transport.ts';
import type { AttemptFailure } from '../../domain/webhooks/attempt-result.ts';
import { AnswerTooLong } from './answer-limit.ts';
import { ConnectTimeout, EgressRefused, HandshakeFailed, NameRefused } from './egress-guard.ts';
import { parseRetryAfter } from './retry-after.ts';

const PROTOCOL_ERROR_CODES = /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|UND_ERR_INVALID_ARG)/;
const TLS_ERROR_CODES = /^(ERR_SSL_|ERR_TLS_|EPROTO)/;

/** Whoever began an exchange. */
export interface Exchanging {
  /**
   * Called exactly once. `isInOrder`: the connection carries nothing of the exchange any more and may be used again,
   * else it has to be closed.
   */
  exchanged(client: Client, answer: WebhookAnswer, isInOrder: boolean): void;
}

/**
 * One request and its answer under one deadline. Decided by the status line: whatever happens to the body
 * after it, a status that came is the answer.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #client: Client;
  readonly #owner: Exchanging;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #isSettled = false;
  #status: number | null = null;
  #retryAfterMs: number | null = null;

  constructor(client: Client, timeoutMs: number, owner: Exchanging) {
    this.#client = client;
    this.#owner = owner;
    this.#timer = setTimeout(() => this.#finish('timeout'), timeoutMs);
  }

  /** Whatever is wrong with the request comes as an answer too. */
  begin(request: Dispatcher.DispatchOptions): void {
    this.#client.dispatch(request, this);
  }

  /** What tells undici which kind of handler this is. */
  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A 1xx comes before the answer, and says nothing yet.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  }

  /** Who waits is put in the connection's queue here: were it idle first, undici's check would cost a turn more. */
  onResponseEnd(): void {
    this.#finish('protocol', true);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    // Undici may fail before `begin` returns: thousands that wait and fail alike must not stand on one stack.
    queueMicrotask(() => this.#finish(reasonOf(error)));
  }

  #finish(reason: AttemptFailure, isInOrder = false): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    const durationMs = performance.now() - this.#startedAt;
    this.#owner.exchanged(
      this.#client,
      this.#status === null
        ? { kind: 'failed', reason, durationMs }
        : { kind: 'answered', status: this.#status, retryAfterMs: this.#retryAfterMs, durationMs },
      isInOrder,
    );
  }
}

function reasonOf(error: Error): AttemptFailure {
  if (error instanceof EgressRefused) return 'address-refused';
  if (error instanceof NameRefused) return 'name-refused';
  if (error instanceof HandshakeFailed) return 'tls';
  if (error instanceof ConnectTimeout) return 'timeout';
  if (error instanceof errors.HTTPParserError || error instanceof AnswerTooLong) return 'protocol';
  const code = 'code' in error ? String(error.code) : '';
  if (TLS_ERROR_CODES.test(code)) return 'tls';
  return PROTOCOL_ERROR_CODES.test(code) ? 'protocol' : 'connection';
}
