import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import { type ServerLimits, UNREAD_REQUEST_BYTES } from '../limits.ts';
import type { ConnectionTable } from './connection-table.ts';
import type { UnreadConnections } from './unread-connections.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

type Limits = Pick<ServerLimits, 'connectionRequestsMax' | 'connectionUnreadBytesMax'>;

/** What the connections of a server share. */
export interface ConnectionParts {
  readonly table: ConnectionTable;
  readonly unread: UnreadConnections;
  /** What the client of a request counts as in limits by address. */
  readonly networkOf: (request: IncomingMessage) => string;
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
 * wait while the client does not read the replies that it has.
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
    noteUnsent: (response) => connections.get(response.req.socket)?.noteUnsent(response),
  };
}

class Connection {
  /** The responses that have not gone out, in the order of their requests. */
  readonly open: ServerResponse[] = [];
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
  /** Whether it counts among those whose clients do not read. */
  #isUnread = false;

  constructor(socket: Socket, limits: Limits, parts: ConnectionParts) {
    this.#socket = socket;
    this.#limits = limits;
    this.#parts = parts;
    const end = (response: ServerResponse): void => this.#end(response);
    this.#onClose = function (this: ServerResponse) {
      end(this);
    };
    // Node resumes the connection behind every request, and for every body that is read.
    socket.on('resume', () => {
      if (this.#isPaused) socket.pause();
    });
    socket.on('drain', () => this.#weighAgain());
    socket.once('close', () => {
      // No client is left to read the responses.
      this.#waiting.length = 0;
      parts.unread.release(socket);
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
    if (this.#served < connectionRequestsMax && this.#waiting.length === 0 && !this.#isUnread) {
      this.#served += 1;
      this.#parts.serve(request, response);
    } else {
      this.#waiting.push([request, response]);
    }
  }

  /** A reply behind an unsent one is in memory too. One that only waits for those before it is soon gone, unless it is large. */
  noteUnsent(response: ServerResponse): void {
    const isLarge = response.writableLength > this.#limits.connectionUnreadBytesMax;
    if (isLarge || this.#socket.writableLength > 0) this.#weigh(false);
  }

  #end(response: ServerResponse): void {
    const index = this.open.indexOf(response);
    if (index === -1) return;
    this.open.splice(index, 1);
    if (this.open.length === 0) this.#parts.table.markIdle(this.#socket);
    this.#served -= 1;
    this.#weighAgain();
    if (this.#waiting.length > 0) this.#scheduleServing();
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

  /** The client has read something. */
  #weighAgain(): void {
    if (!this.#isUnread) return;
    this.#weigh(true);
    if (!this.#isUnread && this.#waiting.length > 0) this.#scheduleServing();
  }

  #weigh(moves: boolean): void {
    const { unread, networkOf } = this.#parts;
    const [oldest] = this.open;
    const unsent = this.#unsentBytes();
    const held = unsent === 0 || oldest === undefined ? 0 : unsent + bytesOf(this.open);
    this.#isUnread = held > this.#limits.connectionUnreadBytesMax;
    if (!this.#isUnread || oldest === undefined) unread.release(this.#socket);
    else if (!this.#socket.destroyed) unread.hold(this.#socket, held, networkOf(oldest.req), moves);
  }

  /** What the socket has, and what the responses have that it does not take yet. */
  #unsentBytes(): number {
    let bytes = this.#socket.writableLength;
    for (const response of this.open) if (response.socket === null) bytes += response.writableLength;
    return bytes;
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
    if (this.#isUnread) return [];
    return this.#waiting.splice(0, this.#limits.connectionRequestsMax - this.#served);
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
    // The rest of the chunk is requests by then, which are in memory as well.
    setImmediate(() => {
      if (this.#socket.writableLength > 0) this.#weigh(false);
    });
  }

  #resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }
}

/** About what the requests hold whose responses these are. */
function bytesOf(responses: readonly ServerResponse[]): number {
  let bytes = responses.length * UNREAD_REQUEST_BYTES;
  for (const { req } of responses) for (const text of req.rawHeaders) bytes += text.length;
  return bytes;
}
