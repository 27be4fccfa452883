import type { Socket } from 'node:net';
import type { MinuteLog } from '../../../application/minute-log.ts';
import { dropConnection } from './drop-connection.ts';

/** What a connection holds while its client reads nothing, or while requests of it wait. */
interface Unread {
  readonly network: string;
  bytes: number;
}

/**
 * The connections whose clients do not read their replies or whose requests wait, and the bytes that the process holds for them.
 * Beyond `bytesMax` one of them is closed: of the address that has most, the one on which nothing has moved for longest.
 */
export class UnreadConnections {
  readonly #bytesMax: number;
  readonly #log: MinuteLog;
  /** The first is the one on which nothing has moved for longest. */
  readonly #unread = new Map<Socket, Unread>();
  readonly #bytesByNetwork = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number, log: MinuteLog) {
    this.#bytesMax = bytesMax;
    this.#log = log;
  }

  /** What they hold together. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The connection holds so many bytes for a client in `network`, which may close another one, or this one when there is no
   * other. With `moves` the client has read something, or a request waits no longer.
   */
  hold(socket: Socket, bytes: number, network: string, moves: boolean): void {
    const known = this.#unread.get(socket);
    const unread = known ?? { network, bytes: 0 };
    this.#add(unread, bytes - unread.bytes);
    if (moves) this.#unread.delete(socket);
    if (moves || known === undefined) this.#unread.set(socket, unread);
    while (this.#bytes > this.#bytesMax) this.#close(this.#longestUnread(socket));
  }

  /** The client has read all and no request waits, or the client is gone. Does nothing for a connection that holds nothing. */
  release(socket: Socket): void {
    const unread = this.#unread.get(socket);
    if (unread === undefined) return;
    this.#unread.delete(socket);
    this.#add(unread, -unread.bytes);
  }

  #add(unread: Unread, bytes: number): void {
    unread.bytes += bytes;
    this.#bytes += bytes;
    const ofNetwork = (this.#bytesByNetwork.get(unread.network) ?? 0) + bytes;
    if (ofNetwork === 0) this.#bytesByNetwork.delete(unread.network);
    else this.#bytesByNetwork.set(unread.network, ofNetwork);
  }

  /** Another one than `newest` when there is one: it may be about to read. */
  #longestUnread(newest: Socket): Socket {
    const heaviest = this.#heaviestNetwork();
    let longest: Socket | undefined;
    for (const [socket, { network }] of this.#unread) {
      if (socket === newest) continue;
      if (network === heaviest) return socket;
      longest ??= socket;
    }
    return longest ?? newest;
  }

  #heaviestNetwork(): string {
    let heaviest = '';
    let most = 0;
    for (const [network, bytes] of this.#bytesByNetwork) {
      if (bytes <= most) continue;
      most = bytes;
      heaviest = network;
    }
    return heaviest;
  }

  #close(socket: Socket): void {
    this.#log.warn('unread_connection_closed', { network: this.#unread.get(socket)?.network });
    this.release(socket);
    dropConnection(socket);
  }
}
