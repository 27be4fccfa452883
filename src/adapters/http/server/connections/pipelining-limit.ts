import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WAITING_REQUESTS_MS_MAX } from '../../server-limits.ts';
import { FairRounds } from '../rounds/fair-rounds.ts';
import { RoundBudget } from '../rounds/round-budget.ts';
import { LateBodies } from './busy-mark.ts';
import {
  Connection,
  type ConnectionLimits,
  type ConnectionParts,
  linesOf,
  type Serve,
} from './connection.ts';
import { PARSER_STOPPED, stopParser } from './node-parser.ts';

export interface PipeliningLimit {
  /** Listens to the requests of the server. */
  readonly serve: Serve;
  /** The responses of a connection that have not gone out yet, in the order of their requests: a list that changes. */
  readonly openResponses: (socket: Duplex) => readonly ServerResponse[];
  /** Why the parser of the connection was stopped: by the lines of one head; else by too many requests. */
  readonly hasTooManyLines: (socket: Duplex) => boolean;
  /** Wants to be told of a whole reply of which something has not gone out at once. */
  readonly noteUnsent: (response: ServerResponse) => void;
}

/**
 * Serves at most `connectionRequestsMax` requests of one connection at a time, in the order they came. Only the first of them is
 * served at once, one in a round of the event loop, and for a short time of the round; one of an unknown caller only while
 * nothing waits. The others wait for what other connections want, and for a client that does not read. Nothing more is read from
 * the connection while too many are open. Node hands over every request of a chunk at once, and thousands fit into one, so the
 * parser is stopped at `connectionOpenRequestsMax` and `connectionOpenLinesMax`, and behind the first request of a connection
 * when a round has had `roundPipelinedLinesMax`: all connections may have sent some at once. A request with more header lines
 * than `headerLinesMax` is none: the parser is stopped there too. While new connections come fast, a connection has one request
 * at a time, which waits until the end of the connection would have been read.
 */
export function pipeliningLimit(
  server: Server,
  limits: ConnectionLimits,
  parts: ConnectionParts,
): PipeliningLimit {
  const connections = new WeakMap<Duplex, Connection>();
  const withTooManyLines = new WeakSet<Duplex>();
  // Node keeps no more lines than these, and its parser obeys all: one more than are allowed tells that there are too many.
  server.maxHeadersCount = limits.headerLinesMax + 1;
  const { backlog } = parts;
  const rounds = new FairRounds(() => backlog.roundMs(WAITING_REQUESTS_MS_MAX));
  const pipelined = new RoundBudget(limits.roundPipelinedLinesMax);
  const lateBodies = new LateBodies();
  const track = (socket: Socket): Connection => {
    const hasLines = (request: IncomingMessage): boolean => {
      if (linesOf(request) <= limits.headerLinesMax) return true;
      withTooManyLines.add(socket);
      return false;
    };
    const reject = () => void server.emit('clientError', new Error('A request is malformed'), socket);
    const stopped = () => {
      const error = Object.assign(new Error('The parser was stopped'), { code: PARSER_STOPPED });
      server.emit('clientError', error, socket);
    };
    const connection = new Connection(socket, limits, parts, {
      rounds,
      pipelined,
      lateBodies,
      hasLines,
      reject,
    });
    connections.set(socket, connection);
    stopParser(socket, (request) => hasLines(request) && connection.mayHave(request), stopped);
    return connection;
  };
  server.on('connection', track);

  return {
    serve(request, response) {
      const { socket } = request;
      (connections.get(socket) ?? track(socket)).take(request, response);
    },
    openResponses: (socket) => connections.get(socket)?.open ?? [],
    hasTooManyLines: (socket) => withTooManyLines.has(socket),
    noteUnsent: (response) => connections.get(response.req.socket)?.unread.noteReply(response),
  };
}
