import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../routing/client-address.ts';
import { dropConnection } from './drop-connection.ts';
import { NetworksBySize } from './networks-by-size.ts';

/**
 * The open connections of a server, at most `connectionsMax`. One more closes one of the network that has most: the longest idle,
 * which may be the new one, or else the one whose request came first. So a network with few never pays for one with many. The
 * network is that of the connection's other end: all clients of a proxy are one.
 */
export class ConnectionTable {
  readonly #connectionsMax: number;
  readonly #connections = new NetworksBySize();

  constructor(server: Server, connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    server.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Those that are open now. */
  get open(): ReadonlySet<Socket> {
    return this.#connections.sockets;
  }

  /** The connection has a request whose response has not gone out. */
  markBusy(socket: Socket): void {
    this.#connections.markBusy(socket);
  }

  /** Every response of the connection has gone out. */
  markIdle(socket: Socket): void {
    this.#connections.markIdle(socket);
  }

  #accept(socket: Socket): void {
    if (socket.destroyed) return;
    this.#connections.add(socket, networkOf(socket.remoteAddress));
    socket.once('close', () => this.#connections.remove(socket));
    if (this.#connections.count <= this.#connectionsMax) return;
    const closed = this.#connections.firstOfLargest();
    if (closed === null) return;
    // It closes later, and counts no more.
    this.#connections.remove(closed);
    dropConnection(closed);
  }
}
