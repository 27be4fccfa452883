import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The open connections of a server, at most `connectionsMax`. For one more, the connection that has been idle longest is
 * closed. When every one has a request, the new one is closed.
 */
export class ConnectionTable {
  readonly #connectionsMax: number;
  readonly #open = new Map<Socket, RingNode>();
  /** The head of those without a request, the longest idle first. A set instead of a ring costs a request 3 % more. */
  readonly #idle = new RingNode(null);

  constructor(server: Server, connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    server.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Those that are open now. */
  get open(): ReadonlySet<Socket> {
    return new Set(this.#open.keys());
  }

  /** The connection has a request whose response has not gone out. */
  markBusy(socket: Socket): void {
    this.#open.get(socket)?.leave();
  }

  /** Every response of the connection has gone out. */
  markIdle(socket: Socket): void {
    this.#open.get(socket)?.moveToEndOf(this.#idle);
  }

  #accept(socket: Socket): void {
    if (this.#open.size >= this.#connectionsMax) {
      const longestIdle = this.#idle.next.socket;
      this.#close(longestIdle ?? socket);
    }
    if (socket.destroyed) return;
    this.#open.set(socket, new RingNode(socket));
    this.markIdle(socket);
    socket.once('close', () => this.#forget(socket));
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.markBusy(socket);
    this.#open.delete(socket);
  }
}

/** A member of a ring, whose head has no socket. */
class RingNode {
  readonly socket: Socket | null;
  previous: RingNode = this;
  next: RingNode = this;

  constructor(socket: Socket | null) {
    this.socket = socket;
  }

  /** Alone afterwards. */
  leave(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.previous = this;
    this.next = this;
  }

  moveToEndOf(head: RingNode): void {
    this.leave();
    this.previous = head.previous;
    this.next = head;
    head.previous.next = this;
    head.previous = this;
  }
}
