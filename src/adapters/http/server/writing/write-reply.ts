import type { IncomingMessage, ServerResponse } from 'node:http';
import { clearTimeout, setTimeout } from 'node:timers';
import { leavesMuchUnread } from '../../input/unread-body.ts';
import { REQUEST_ID_CHARACTERS_MAX } from '../../limits.ts';
import type { HttpReply } from '../../replies/http-reply.ts';
import {
  LINGER_BYTES_MAX,
  LINGER_MS_MAX,
  SHARED_BODY_PIECE_BYTES,
  TEXT_BODY_CHARACTERS_MAX,
} from '../../server-limits.ts';

const REQUEST_ID_PATTERN = new RegExp(`^[A-Za-z0-9._:-]{1,${REQUEST_ID_CHARACTERS_MAX}}$`);

/** A body of one reply, or the bytes of one that many replies share. */
export type ReplyBody = string | Buffer;

/** What every reply of one media type carries, as a flat list of names and values. */
export function commonHeaders(contentType: string): readonly string[] {
  return ['Content-Type', contentType, 'Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
}

export const JSON_HEADERS = commonHeaders('application/json; charset=utf-8');

/** The caller's own request id when it is safe to repeat, else a new one. */
export function requestIdOf(request: IncomingMessage, requestIds: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : requestIds();
}

/** All headers of a reply apart from those the server itself adds; `body` is null when it is streamed. */
export function headersOf(
  common: readonly string[],
  { code, headers }: Pick<HttpReply, 'code' | 'headers'>,
  requestId: string,
  body: ReplyBody | null,
  closes: boolean,
): string[] {
  const all = [...common, 'X-Request-Id', requestId];
  if (body !== null) all.push('Content-Length', String(Buffer.byteLength(body)));
  if (code !== undefined) all.push('X-Error-Code', code);
  if (headers !== undefined) all.push(...headers);
  if (closes) all.push('Connection', 'close');
  return all;
}

/** Writes a whole body. Behind a long request body that nobody read, the connection is given up. */
export function writeBody(request: IncomingMessage, response: ServerResponse, body: ReplyBody): void {
  if (leavesMuchUnread(request)) lingerThenEnd(request, response, octetsIfLong(body));
  else if (typeof body === 'string' || request.method === 'HEAD') response.end(octetsIfLong(body));
  else writeInPieces(response, body);
}

/** The body as octets when it is a long text. */
function octetsIfLong(body: ReplyBody): ReplyBody {
  return typeof body === 'string' && body.length > TEXT_BODY_CHARACTERS_MAX ? Buffer.from(body) : body;
}

/** Writes a piece when the client has taken the one before. Pieces of a buffer are no copies. */
function writeInPieces(response: ServerResponse, body: Buffer): void {
  let start = 0;
  const writeMore = (): void => {
    for (;;) {
      const piece = body.subarray(start, start + SHARED_BODY_PIECE_BYTES);
      start += piece.length;
      if (start === body.length) {
        response.off('drain', writeMore).end(piece);
        return;
      }
      if (!response.write(piece)) return;
    }
  };
  response.on('drain', writeMore);
  writeMore();
}

/**
 * The reply is complete for the caller at once, but the connection ends a little later: closing it over
 * unread bytes would reset it, and the caller, still sending, might never see the reply.
 */
function lingerThenEnd(request: IncomingMessage, response: ServerResponse, body: ReplyBody): void {
  response.write(body);
  let bytesLeft = LINGER_BYTES_MAX;
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', count);
    response.end();
  };
  const count = (chunk: Buffer): void => {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) end();
  };
  const timer = setTimeout(end, LINGER_MS_MAX);
  request.on('data', count).once('end', end).once('error', end).resume();
}
