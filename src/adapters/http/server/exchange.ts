import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../../application/ports/logger.ts';
import { ClientDisconnected, type HttpReply } from '../routing/http-reply.ts';
import { headerRecord, type ObservedReply } from './observed-reply.ts';
import { headersOf, leavesMuchUnread, requestIdOf, writeReply } from './write-reply.ts';

export interface ExchangeOptions {
  readonly logger: Logger;
  readonly requestIds: () => string;
  readonly observeReply: ((seen: ObservedReply) => void) | undefined;
}

/** One request on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The declared path, or null while none matched. */
  readonly route: string | null;
  readonly requestId: string;
  readonly startedAtMs: number;
}

/** Answers requests, and tells the log and the observer about it. */
export class Exchanges {
  readonly #options: ExchangeOptions;
  #closing = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** From now on every answer says `Connection: close`. */
  startClosing(): void {
    this.#closing = true;
  }

  begin(request: IncomingMessage, response: ServerResponse, route: string | null): Exchange {
    const requestId = requestIdOf(request, this.#options.requestIds);
    return { request, response, route, requestId, startedAtMs: performance.now() };
  }

  /** Writes the answer, unless the caller is gone or has one already. */
  respond(exchange: Exchange, answer: HttpReply, closes = false): void {
    const { request, response, route, requestId } = exchange;
    if (response.headersSent || response.destroyed) return;
    const body = JSON.stringify(answer.body);
    const headers = headersOf(answer, requestId, body, closes || this.#closing || leavesMuchUnread(request));
    writeReply(request, response, answer.status, headers, body);
    const { observeReply } = this.#options;
    if (observeReply === undefined) return;
    const { method = '' } = request;
    const sent = method === 'HEAD' ? '' : body;
    const seen = { method, route, status: answer.status, headers: headerRecord(headers), body: sent };
    // An observer throws to report an answer; that is no fault of the request.
    queueMicrotask(() => observeReply(seen));
  }

  /** Logs a fault and answers with `answer`; a connection that was given up is neither. */
  fail(exchange: Exchange, error: unknown, answer: HttpReply): void {
    if (error instanceof ClientDisconnected) return;
    this.#options.logger.error('request_failed', error, factsOf(exchange, answer.status));
    this.respond(exchange, answer);
  }
}

function factsOf({ request, route, requestId, startedAtMs }: Exchange, status: number) {
  const durationMs = Math.round(performance.now() - startedAtMs);
  return { method: request.method, route, status, durationMs, requestId };
}
