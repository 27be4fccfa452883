import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { pipeline, type Readable } from 'node:stream';
import type { Logger } from '../../../../application/ports/logger.ts';
import type { RequestObserver } from '../../../../application/ports/request-observer.ts';
import { leavesMuchUnread } from '../../input/unread-body.ts';
import { ClientDisconnected } from '../../replies/http-error.ts';
import type { FileReply, HttpReply, TextReply } from '../../replies/http-reply.ts';
import type { RequestPermit } from '../../routing/request-permit.ts';
import { headerRecord, type ObservedReply } from './observed-reply.ts';
import {
  commonHeaders,
  headersOf,
  JSON_HEADERS,
  type ReplyBody,
  requestIdOf,
  writeBody,
} from './write-reply.ts';

const TEXT_HEADERS = commonHeaders('text/plain; charset=utf-8');
const HTML_HEADERS = commonHeaders('text/html; charset=utf-8');
const UNSAFE_IN_FILE_NAMES = /[^A-Za-z0-9._-]/g;

export interface ReplyWriterOptions {
  readonly logger: Logger;
  readonly requestIds: () => string;
  readonly observeReply: ((seen: ObservedReply) => void) | undefined;
  /** Told of each whole reply of which something has not gone out at once. */
  readonly onUnsent: (response: ServerResponse) => void;
  /** Told of each reply as it begins to go out. */
  readonly observers: readonly RequestObserver[];
}

/** One request on its way to its reply. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The declared path, or null while none matched. */
  readonly route: string | null;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Null for a request that is not counted. */
  readonly permit: Pick<RequestPermit, 'projectId'> | null;
}

/** Writes replies of every kind, and tells the log and the observer about them. */
export class ReplyWriter {
  readonly #options: ReplyWriterOptions;
  #closing = false;

  constructor(options: ReplyWriterOptions) {
    this.#options = options;
  }

  /** From now on every reply says `Connection: close`. */
  startClosing(): void {
    this.#closing = true;
  }

  begin(
    request: IncomingMessage,
    response: ServerResponse,
    route: string | null,
    permit: RequestContext['permit'] = null,
  ): RequestContext {
    const requestId = requestIdOf(request, this.#options.requestIds);
    return { request, response, route, requestId, startedAtMs: performance.now(), permit };
  }

  /** Writes the reply, unless the caller is gone or has one already. */
  write(context: RequestContext, reply: HttpReply, closes = false, isFault = false): void {
    if (context.response.headersSent || context.response.destroyed) {
      if (reply.kind === 'file') discard(reply.content);
      return;
    }
    this.#tellObservers(context, reply, isFault);
    switch (reply.kind) {
      case 'json':
        this.#writeWhole(context, reply, JSON_HEADERS, reply.bytes ?? JSON.stringify(reply.body), closes);
        break;
      case 'text':
        this.#writeWhole(context, reply, textHeaders(reply), reply.text, closes);
        break;
      case 'html':
        this.#writeWhole(context, reply, HTML_HEADERS, reply.html, closes);
        break;
      case 'file':
        this.#writeFile(context, reply);
        break;
      default:
        reply satisfies never;
    }
  }

  /** Logs a fault and writes `reply`; a connection that was given up is neither. */
  fail(context: RequestContext, error: unknown, reply: HttpReply): void {
    if (error instanceof ClientDisconnected) return;
    this.#log(context, error, reply.status);
    this.write(context, reply, false, true);
  }

  #writeWhole(
    context: RequestContext,
    reply: HttpReply,
    common: readonly string[],
    body: ReplyBody,
    closes: boolean,
  ): void {
    const { request, response } = context;
    this.#writeHead(context, reply, common, body, closes);
    writeBody(request, response, body);
    // Most replies are gone by now.
    if (response.writableLength > 0) this.#options.onUnsent(response);
  }

  #writeFile(context: RequestContext, reply: FileReply): void {
    const { request, response } = context;
    const name = reply.fileName.replaceAll(UNSAFE_IN_FILE_NAMES, '_');
    const disposition = ['Content-Disposition', `attachment; filename="${name}"`];
    this.#writeHead(context, reply, [...commonHeaders(reply.mediaType), ...disposition], null, false);
    if (request.method === 'HEAD') {
      discard(reply.content);
      response.end();
      return;
    }
    pipeline(reply.content, response, (error) => {
      // The status is on its way: a cut connection is the only thing left to tell the client.
      if (error !== undefined && error !== null && !isPrematureClose(error)) {
        this.#log(context, error, reply.status);
      }
    });
  }

  #writeHead(
    { request, response, route, requestId }: RequestContext,
    reply: HttpReply,
    common: readonly string[],
    body: ReplyBody | null,
    closes: boolean,
  ): void {
    const isLast = closes || this.#closing || leavesMuchUnread(request);
    const headers = headersOf(common, reply, requestId, body, isLast);
    response.writeHead(reply.status, headers);
    const { observeReply } = this.#options;
    if (observeReply === undefined) return;
    const { method = '' } = request;
    const sent = method === 'HEAD' ? '' : String(body ?? '');
    const seen = { method, route, status: reply.status, headers: headerRecord(headers), body: sent };
    // An observer throws to report a reply; that is no fault of the request.
    queueMicrotask(() => observeReply(seen));
  }

  #tellObservers(context: RequestContext, reply: HttpReply, isFault: boolean): void {
    const { request, route, requestId, startedAtMs, permit } = context;
    const { traceparent } = request.headers;
    const served = {
      method: request.method ?? '',
      route,
      status: reply.status,
      code: reply.code ?? null,
      durationMs: performance.now() - startedAtMs,
      requestId,
      projectId: permit?.projectId ?? null,
      isFault,
      traceparent: typeof traceparent === 'string' ? traceparent : null,
    };
    for (const observer of this.#options.observers) observer.served(served);
  }

  #log({ request, route, requestId, startedAtMs }: RequestContext, error: unknown, status: number): void {
    const durationMs = Math.round(performance.now() - startedAtMs);
    const facts = { method: request.method, route, status, durationMs, requestId };
    this.#options.logger.error('request_failed', error, facts);
  }
}

function textHeaders({ mediaType }: TextReply): readonly string[] {
  return mediaType === undefined ? TEXT_HEADERS : commonHeaders(`${mediaType}; charset=utf-8`);
}

/** Destroys a source that nobody reads. A file that fails to open reports it later: unheard, that would end the process. */
function discard(content: Readable): void {
  content.on('error', () => undefined).destroy();
}

/** The client left before the end. */
function isPrematureClose(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
