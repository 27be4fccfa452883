import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { siteOf } from '../../routing/client-address.ts';
import { dropConnection } from './drop-connection.ts';
import { SitesBySize } from './sites-by-size.ts';

/**
 * The open connections of a server, at most `connectionsMax`. One more closes one of the site that has most: the longest idle,
 * or else the one whose request came first. So a site with few never pays for one with many, and the new connection pays only
 * for others of its own. The site is the address of the connection's other end, or the first 48 bits when it is IPv6: all clients
 * of a proxy are one.
 */
export class ConnectionTable {
  readonly #connectionsMax: number;
  readonly #connections = new SitesBySize();

  constructor(server: Server, connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
    server.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Those that are open now. */
  get open(): ReadonlySet<Socket> {
    return this.#connections.sockets;
  }

  /** The connection has a request that has arrived, and whose response has not gone out. */
  markBusy(socket: Socket): void {
    this.#connections.markBusy(socket);
  }

  /** The connection has no such request, from now on: every response has gone out, or a request is arriving. */
  markIdle(socket: Socket): void {
    this.#connections.markIdle(socket);
  }

  #accept(socket: Socket): void {
    if (socket.destroyed) return;
    const site = siteOf(socket.remoteAddress);
    const isFull = this.#connections.count >= this.#connectionsMax;
    // Before the new one counts: of sites with as many as its own then, another pays.
    if (isFull && !this.#connections.hasMost(site)) this.#closeOne();
    this.#connections.add(socket, site);
    socket.once('close', () => this.#connections.remove(socket));
    if (this.#connections.count > this.#connectionsMax) this.#closeOne();
  }

  #closeOne(): void {
    const closed = this.#connections.firstOfLargest();
    if (closed === null) return;
    // It closes later, and counts no more.
    this.#connections.remove(closed);
    dropConnection(closed);
  }
}
