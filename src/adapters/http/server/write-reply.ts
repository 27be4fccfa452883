import type { IncomingMessage, ServerResponse } from 'node:http';
import { clearTimeout, setTimeout } from 'node:timers';
import {
  LINGER_BYTES_MAX,
  LINGER_MS_MAX,
  REQUEST_ID_CHARACTERS_MAX,
  UNREAD_BODY_BYTES_KEPT,
} from '../limits.ts';
import type { HttpReply } from '../routing/http-reply.ts';

const REQUEST_ID_PATTERN = new RegExp(`^[A-Za-z0-9._:-]{1,${REQUEST_ID_CHARACTERS_MAX}}$`);

export const CONTENT_TYPE = 'application/json; charset=utf-8';

/** What every answer carries, as a flat list of names and values. */
export const COMMON_HEADERS: readonly string[] = [
  'Content-Type',
  CONTENT_TYPE,
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
];

/** The caller's own request id when it is safe to repeat, else a new one. */
export function requestIdOf(request: IncomingMessage, requestIds: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : requestIds();
}

/** All headers of an answer apart from those the server itself adds. */
export function headersOf(answer: HttpReply, requestId: string, body: string, closes: boolean): string[] {
  const headers = [
    ...COMMON_HEADERS,
    'X-Request-Id',
    requestId,
    'Content-Length',
    String(Buffer.byteLength(body)),
  ];
  if (answer.code !== undefined) headers.push('X-Error-Code', answer.code);
  if (answer.headers !== undefined) headers.push(...answer.headers);
  if (closes) headers.push('Connection', 'close');
  return headers;
}

/** Writes a whole answer at once. Behind a large body that nobody read, the connection is given up. */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: string[],
  body: string,
): void {
  response.writeHead(status, headers);
  if (leavesMuchUnread(request)) lingerThenEnd(request, response, body);
  else response.end(body);
}

/** Whether reading the rest of the request would cost more than a new connection. */
export function leavesMuchUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const { 'content-length': announced, 'transfer-encoding': chunked } = request.headers;
  return chunked !== undefined || (announced !== undefined && Number(announced) > UNREAD_BODY_BYTES_KEPT);
}

/**
 * The answer is complete for the caller at once, but the connection ends a little later: closing it over
 * unread bytes would reset it, and the caller, still sending, might never see the answer.
 */
function lingerThenEnd(request: IncomingMessage, response: ServerResponse, body: string): void {
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
