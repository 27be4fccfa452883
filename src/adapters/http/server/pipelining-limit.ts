import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import type { ServerLimits } from '../limits.ts';
import type { ConnectionTable } from './connection-table.ts';
import { type UnreadParts, UnreadReplies } from './unread-replies.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

type Limits = Pick<ServerLimits, 'connectionRequestsMax' | 'connectionUnreadBytesMax'>;

/** What the connections of a server share. */
export interface ConnectionParts extends UnreadParts {
  readonly table: ConnectionTable;
  /** Serves one request, when fewer than the limit are being served. */
  readonly serve: Serve;
}

export interface PipeliningLimit {
  /** Listens to the requests of the server. */
  readonly serve: Serve;
  /** The responses of a connection that have not gone out yet, in the order of their requests: a list that changes. */
  readonly openResponses: (socket: Duplex) => readonly ServerResponse[];
  /** Wants to be told of a whole reply of which something has not gone out at once. */
  readonly noteUnsent: (response: ServerResponse) => void;
}

/**
 * Serves at most `connectionRequestsMax` requests of one connection at a time, in the order they came. Node hands over every
 * request of a chunk at once, and a client that does not wait for responses gets thousands into one. The others
 * wait, so that other connections are served in between, and nothing more is read from the connection meanwhile. They also
 * wait while the connection holds too much that its client does not read.
 */
export function pipeliningLimit(server: Server, limits: Limits, parts: ConnectionParts): PipeliningLimit {
  const connections = new WeakMap<Duplex, Connection>();
  const track = (socket: Socket): Connection => {
    const connection = new Connection(socket, limits, parts);
    connections.set(socket, connection);
    return connection;
  };
  server.on('connection', track);

  return {
    serve(request, response) {
      const { socket } = request;
      (connections.get(socket) ?? track(socket)).take(request, response);
    },
    openResponses: (socket) => connections.get(socket)?.open ?? [],
    noteUnsent: (response) => connections.get(response.req.socket)?.unread.noteReply(response),
  };
}

class Connection {
  /** The responses that have not gone out, in the order of their requests. */
  readonly open: ServerResponse[] = [];
  readonly unread: UnreadReplies;
  readonly #socket: Socket;
  readonly #limits: Limits;
  readonly #parts: ConnectionParts;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** Listens to the close of each response. */
  readonly #onClose: (this: ServerResponse) => void;
  /** How many of the open ones are being served; the others wait. */
  #served = 0;
  #isPaused = false;
  #isServingScheduled = false;

  constructor(socket: Socket, limits: Limits, parts: ConnectionParts) {
    this.#socket = socket;
    this.#limits = limits;
    this.#parts = parts;
    this.unread = new UnreadReplies(socket, this.open, limits.connectionUnreadBytesMax, parts);
    const end = (response: ServerResponse): void => this.#end(response);
    this.#onClose = function (this: ServerResponse) {
      end(this);
    };
    // Node resumes the connection behind every request, and for every body that is read.
    socket.on('resume', () => {
      if (this.#isPaused) socket.pause();
    });
    socket.on('drain', () => this.#serveAfterRead());
    socket.once('close', () => {
      // No client is left to read the responses.
      this.#waiting.length = 0;
      this.unread.release();
      // Node closes the response that has the socket, and those that have just gone out.
      setImmediate(() => this.#closeAll());
    });
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const { connectionRequestsMax } = this.#limits;
    if (this.open.length === 0) this.#parts.table.markBusy(this.#socket);
    this.open.push(response);
    if (this.open.length > connectionRequestsMax) this.#pause();
    response.on('close', this.#onClose);
    if (this.#served < connectionRequestsMax && this.#waiting.length === 0 && !this.unread.isTooMuch) {
      this.#served += 1;
      this.#parts.serve(request, response);
    } else {
      this.#waiting.push([request, response]);
    }
  }

  #end(response: ServerResponse): void {
    const index = this.open.indexOf(response);
    if (index === -1) return;
    this.open.splice(index, 1);
    if (this.open.length === 0) this.#parts.table.markIdle(this.#socket);
    this.#served -= 1;
    this.#serveAfterRead();
    if (this.#isPaused && this.open.length <= this.#limits.connectionRequestsMax) this.#resume();
  }

  /**
   * Node never closes a response that still waits for an earlier one when its connection closes, not even one that is
   * destroyed. What ends at the close would never do so: a place, a file, an event stream.
   */
  #closeAll(): void {
    for (const response of [...this.open]) {
      response.destroy();
      response.emit('close');
    }
  }

  /** The client has read something, so a waiting request may be next. */
  #serveAfterRead(): void {
    this.unread.noteRead();
    if (this.#waiting.length > 0) this.#scheduleServing();
  }

  /** In the next round of the event loop: replies that wait for nothing would otherwise follow each other for long. */
  #scheduleServing(): void {
    if (this.#isServingScheduled) return;
    this.#isServingScheduled = true;
    setImmediate(() => {
      this.#isServingScheduled = false;
      for (const [request, response] of this.#nextWaiting()) {
        this.#served += 1;
        this.#parts.serve(request, response);
      }
    });
  }

  #nextWaiting(): readonly (readonly [IncomingMessage, ServerResponse])[] {
    if (this.unread.isTooMuch) return [];
    return this.#waiting.splice(0, this.#limits.connectionRequestsMax - this.#served);
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
    // The rest of the chunk is requests by then, which are in memory as well.
    setImmediate(() => this.unread.noteRequests());
  }

  #resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }
}
