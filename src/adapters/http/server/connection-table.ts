import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The open connections of a server, at most `connectionsMax`. For one more, the connection that has been idle longest is
 * closed. When every one has a request, the new one is closed.
 */
export class ConnectionTable {
  readonly #connectionsMax: number;
  readonly #open = new Set<Socket>();
  /** Those without a request, the longest idle first. */
  readonly #idle = new Set<Socket>();

  constructor(server: Server, connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    server.on('connection', (socket: Socket) => this.#accept(socket));
  }

  get open(): ReadonlySet<Socket> {
    return this.#open;
  }

  /** The connection has a request whose response has not gone out. */
  markBusy(socket: Socket): void {
    this.#idle.delete(socket);
  }

  /** Every response of the connection has gone out. */
  markIdle(socket: Socket): void {
    if (this.#open.has(socket)) this.#idle.add(socket);
  }

  #accept(socket: Socket): void {
    if (this.#open.size >= this.#connectionsMax) {
      const [longestIdle] = this.#idle;
      this.#close(longestIdle ?? socket);
    }
    if (socket.destroyed) return;
    this.#open.add(socket);
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
    this.#idle.delete(socket);
  }
}
