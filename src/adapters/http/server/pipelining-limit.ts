import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import type { ConnectionTable } from './connection-table.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

export interface PipeliningLimit {
  /** Listens to the requests of the server. */
  readonly serve: Serve;
  /** The responses of a connection that have not gone out yet, in the order of their requests: a list that changes. */
  readonly openResponses: (socket: Duplex) => readonly ServerResponse[];
}

interface Connection {
  /** The responses that have not gone out, in the order of their requests. */
  readonly open: ServerResponse[];
  /** How many of the open ones are being served; the others wait. */
  served: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  isPaused: boolean;
  isServingScheduled: boolean;
  /** Listens to the close of each response. */
  readonly onClose: (this: ServerResponse) => void;
}

/**
 * Serves at most `requestsMax` requests of one connection at a time, in the order they came. Node hands over every
 * request of a chunk at once, and a client that does not wait for responses gets thousands into one. The others
 * wait, so that other connections are served in between, and nothing more is read from the connection meanwhile.
 */
export function pipeliningLimit(
  server: Server,
  requestsMax: number,
  table: ConnectionTable,
  serve: Serve,
): PipeliningLimit {
  const connections = new WeakMap<Duplex, Connection>();
  const track = (socket: Socket): Connection => {
    const connection = trackConnection(socket, requestsMax, table, serve);
    connections.set(socket, connection);
    return connection;
  };
  server.on('connection', track);

  return {
    serve(request, response) {
      const { socket } = request;
      const connection = connections.get(socket) ?? track(socket);
      if (connection.open.length === 0) table.markBusy(socket);
      connection.open.push(response);
      if (connection.open.length > requestsMax) pause(socket, connection);
      response.on('close', connection.onClose);
      if (connection.served < requestsMax && connection.waiting.length === 0) {
        connection.served += 1;
        serve(request, response);
      } else {
        connection.waiting.push([request, response]);
      }
    },
    openResponses: (socket) => connections.get(socket)?.open ?? [],
  };
}

function trackConnection(
  socket: Socket,
  requestsMax: number,
  table: ConnectionTable,
  serve: Serve,
): Connection {
  const connection: Connection = {
    open: [],
    served: 0,
    waiting: [],
    isPaused: false,
    isServingScheduled: false,
    onClose() {
      const index = connection.open.indexOf(this);
      if (index !== -1) connection.open.splice(index, 1);
      if (connection.open.length === 0) table.markIdle(socket);
      connection.served -= 1;
      if (connection.waiting.length > 0) scheduleServing(connection, requestsMax, serve);
      if (connection.isPaused && connection.open.length <= requestsMax) resume(socket, connection);
    },
  };
  // Node resumes the connection behind every request, and for every body that is read.
  socket.on('resume', () => {
    if (connection.isPaused) socket.pause();
  });
  // No client is left to read the responses.
  socket.once('close', () => {
    connection.waiting.length = 0;
  });
  return connection;
}

/** In the next round of the event loop: replies that wait for nothing would otherwise follow each other for long. */
function scheduleServing(connection: Connection, requestsMax: number, serve: Serve): void {
  if (connection.isServingScheduled) return;
  connection.isServingScheduled = true;
  setImmediate(() => {
    connection.isServingScheduled = false;
    for (const [request, response] of connection.waiting.splice(0, requestsMax - connection.served)) {
      connection.served += 1;
      serve(request, response);
    }
  });
}

function pause(socket: Socket, connection: Connection): void {
  if (connection.isPaused) return;
  connection.isPaused = true;
  socket.pause();
}

function resume(socket: Socket, connection: Connection): void {
  connection.isPaused = false;
  socket.resume();
}
