import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import { errorReply, type HttpError, usualEnvelope } from '../../replies/http-error.ts';
import {
  HEADERS_TOO_LARGE,
  MALFORMED_REQUEST,
  OVERLOADED,
  REQUEST_TIMEOUT,
} from '../../replies/known-errors.ts';
import { LINGER_MS_MAX } from '../../server-limits.ts';
import { headerRecord, type ObservedReply } from '../writing/observed-reply.ts';
import { headersOf, JSON_HEADERS } from '../writing/write-reply.ts';
import { PARSER_STOPPED } from './node-parser.ts';

interface Surroundings {
  readonly requestIds: () => string;
  readonly observeReply: ((seen: ObservedReply) => void) | undefined;
  /** The responses of a connection that have not gone out yet. */
  readonly openResponses: (socket: Duplex) => readonly ServerResponse[];
  /** Whether a head of the connection had more lines than one may have. */
  readonly hasTooManyLines: (socket: Duplex) => boolean;
}

interface ClientError extends NodeJS.ErrnoException {
  /** What the parser was reading. */
  readonly rawPacket?: Buffer;
}

const HEAD = Buffer.from('HEAD ');

/**
 * Replies to what never became a request: a malformed or oversized head, a request that did not arrive in time,
 * one too many of a connection, a tunnel. The reply is JSON like every other error, and the connection closes behind it.
 */
export function replyToProtocolErrors(server: Server, surroundings: Surroundings): void {
  server.on('clientError', (error: ClientError, socket) => {
    // A caller who ends a connection inside a request has left, as one who ends it behind a request has.
    if (error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE' || !socket.writable) {
      socket.destroy();
      return;
    }
    const method = beginsWithHead(error) ? 'HEAD' : '';
    const isHeadTooLong = surroundings.hasTooManyLines(socket);
    endInOrder(socket, method, isHeadTooLong ? HEADERS_TOO_LARGE : errorFor(error.code), surroundings);
  });
  // Node may listen to a connection no longer, and an error that nobody hears ends the process.
  server.on('connection', (socket) => socket.on('error', () => {}));
  server.on('connect', (_request: IncomingMessage, socket) => {
    socket.on('timeout', () => socket.destroy());
    // Node no longer tells the reply that is going out when the client has read the piece before.
    socket.on('drain', () => surroundings.openResponses(socket)[0]?.emit('drain'));
    endInOrder(socket, '', MALFORMED_REQUEST, surroundings);
  });
}

function errorFor(code: string | undefined): HttpError {
  if (code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE;
  if (code === PARSER_STOPPED) return OVERLOADED;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return REQUEST_TIMEOUT;
  return MALFORMED_REQUEST;
}

/** A reply to HEAD has no body. The method of a head that came in several packets is not known here. */
function beginsWithHead({ rawPacket }: ClientError): boolean {
  return rawPacket?.subarray(0, HEAD.length).equals(HEAD) ?? false;
}

/** Ends the connection when the replies to earlier, complete requests have gone out. */
function endInOrder(socket: Duplex, method: '' | 'HEAD', error: HttpError, surroundings: Surroundings): void {
  const earlier = surroundings.openResponses(socket).find(({ req }) => req.complete);
  if (earlier === undefined) endWith(socket, method, error, surroundings);
  else earlier.once('close', () => endInOrder(socket, method, error, surroundings));
}

function endWith(
  socket: Duplex,
  method: '' | 'HEAD',
  error: HttpError,
  { requestIds, observeReply }: Surroundings,
): void {
  if (!socket.writable) return;
  const reply = errorReply(error, usualEnvelope);
  const body = JSON.stringify(reply.body);
  const headers = headersOf(JSON_HEADERS, reply, requestIds(), body, true);
  const lines = [`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  const sent = method === 'HEAD' ? '' : body;
  socket.end(`${lines.join('\r\n')}\r\n\r\n${sent}`, () => destroyLater(socket));
  observeReply?.({ method, route: null, status: reply.status, headers: headerRecord(headers), body: sent });
}

/**
 * A client that still sends is reset when the connection closes over bytes that nobody read, and gives up what it has not read
 * itself: it gets a moment for the replies.
 */
function destroyLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS_MAX);
  socket.once('close', () => clearTimeout(timer));
}
