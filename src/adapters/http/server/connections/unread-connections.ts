import type { Socket } from 'node:net';
import type { MinuteLog } from '../../../../application/minute-log.ts';
import { BytesByNetwork } from '../../bytes-by-network.ts';
import { dropConnection } from './drop-connection.ts';

/** What is in memory for one connection. */
interface Held {
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
  /** The first is closed first. */
  readonly #connections = new Map<Socket, Held>();
  readonly #bytes = new BytesByNetwork();

  constructor(bytesMax: number, log: MinuteLog) {
    this.#bytesMax = bytesMax;
    this.#log = log;
  }

  /** What is held for all together. */
  get bytes(): number {
    return this.#bytes.inAll;
  }

  /**
   * Notes that `bytes` are held now for the connection, of a client in `network`. That may close another connection, or this one
   * when there is no other. With `moves` the connection becomes the last one to be closed.
   */
  hold(connection: Socket, bytes: number, network: string, moves = false): void {
    const known = this.#connections.get(connection);
    const held = known ?? { network, bytes: 0 };
    this.#add(held, bytes - held.bytes);
    if (moves) this.#connections.delete(connection);
    if (moves || known === undefined) this.#connections.set(connection, held);
    while (this.bytes > this.#bytesMax) this.#closeOne(connection);
  }

  /** Nothing is held any more. Does nothing for a connection for which nothing was held. */
  release(connection: Socket): void {
    const held = this.#connections.get(connection);
    if (held === undefined) return;
    this.#connections.delete(connection);
    this.#add(held, -held.bytes);
  }

  #add(held: Held, bytes: number): void {
    held.bytes += bytes;
    this.#bytes.add(held.network, bytes);
  }

  #closeOne(newest: Socket): void {
    const connection = this.#firstOfHeaviest(newest);
    const network = this.#connections.get(connection)?.network ?? '';
    this.release(connection);
    this.#log.warn('unread_connection_closed', { network });
    dropConnection(connection);
  }

  /** Another one than `newest` when there is one: it may be about to go on. */
  #firstOfHeaviest(newest: Socket): Socket {
    const heaviest = this.#bytes.heaviest().network;
    let first: Socket | undefined;
    for (const [connection, { network }] of this.#connections) {
      if (connection === newest) continue;
      if (network === heaviest) return connection;
      first ??= connection;
    }
    return first ?? newest;
  }
}
