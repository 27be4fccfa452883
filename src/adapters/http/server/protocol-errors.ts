import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HEADERS_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT } from '../routing/error-bodies.ts';
import type { ErrorReply } from '../routing/http-reply.ts';
import { headerRecord, type ObservedReply } from './observed-reply.ts';
import { headersOf } from './write-reply.ts';

interface Surroundings {
  readonly requestIds: () => string;
  readonly observeReply: ((seen: ObservedReply) => void) | undefined;
}

/**
 * Answers what never became a request: a malformed or oversized head, a request that did not arrive in time,
 * a tunnel. The answer is JSON like every other, and the connection closes behind it.
 */
export function replyToProtocolErrors(server: Server, surroundings: Surroundings): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const answer = answerFor(error.code);
    const endInTurn = (): void => {
      const underWay = responseUnderWay(socket);
      if (underWay === null) endWith(socket, answer, surroundings);
      else underWay.once('close', endInTurn);
    };
    endInTurn();
  });
  server.on('connect', (_request: IncomingMessage, socket) => {
    endWith(socket, MALFORMED_REQUEST, surroundings);
  });
}

function answerFor(code: string | undefined): ErrorReply {
  if (code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return REQUEST_TIMEOUT;
  return MALFORMED_REQUEST;
}

/**
 * The first of the answers to earlier, complete requests, which the fault must not overtake. Node keeps the
 * response of a connection's current request on its socket until it has gone out, and tells of it in no other way.
 */
function responseUnderWay(socket: Duplex): ServerResponse | null {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse && response.req.complete ? response : null;
}

function endWith(socket: Duplex, answer: ErrorReply, { requestIds, observeReply }: Surroundings): void {
  if (!socket.writable) return;
  const body = JSON.stringify(answer.body);
  const headers = headersOf(answer, requestIds(), body, true);
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  observeReply?.({ method: '', route: null, status: answer.status, headers: headerRecord(headers), body });
}
