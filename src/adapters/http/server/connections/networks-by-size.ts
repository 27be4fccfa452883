import type { Socket } from 'node:net';
import { RingNode } from './ring-node.ts';

/** The open connections of clients in one network. */
class Network {
  readonly name: string;
  count = 0;
  /** The longest idle first. */
  readonly idle = new RingNode<Socket>(null);
  /** The one whose request came first is the first. */
  readonly busy = new RingNode<Socket>(null);
  /** Its place among the networks with as many connections. */
  readonly place: RingNode<Network> = new RingNode<Network>(this);

  constructor(name: string) {
    this.name = name;
  }
}

/** The networks with one number of connections. Of each list the one that joined it first is the first. */
class Size {
  readonly withIdle = new RingNode<Network>(null);
  readonly allBusy = new RingNode<Network>(null);
}

/** An open connection. */
interface Connection {
  readonly network: Network;
  readonly node: RingNode<Socket>;
}

/**
 * Open connections, by the network of their clients and by how many that has. Each operation takes the same time however many
 * there are.
 */
export class NetworksBySize {
  readonly #connections = new Map<Socket, Connection>();
  readonly #networks = new Map<string, Network>();
  /** By the number of connections. */
  readonly #sizes: Size[] = [];
  #largest = 0;

  /** How many connections are open. */
  get count(): number {
    return this.#connections.size;
  }

  /** The connections, the oldest first. */
  get sockets(): ReadonlySet<Socket> {
    return new Set(this.#connections.keys());
  }

  /** Whether no network has more connections than this one. */
  hasMost(name: string): boolean {
    return (this.#networks.get(name)?.count ?? 0) === this.#largest;
  }

  /** Adds a new connection, which is idle. */
  add(socket: Socket, name: string): void {
    const network = this.#networks.get(name) ?? new Network(name);
    this.#networks.set(name, network);
    const node = new RingNode(socket);
    this.#connections.set(socket, { network, node });
    node.moveToEndOf(network.idle);
    this.#resize(network, network.count + 1);
  }

  /** Does nothing for a connection that is not there. */
  remove(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { network, node } = connection;
    this.#connections.delete(socket);
    node.leave();
    this.#resize(network, network.count - 1);
  }

  /** Does nothing for a connection that is not there. */
  markBusy(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { network, node } = connection;
    node.moveToEndOf(network.busy);
    if (network.idle.first === null) this.#place(network);
  }

  /** Does nothing for a connection that is not there. */
  markIdle(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { network, node } = connection;
    const wasAllBusy = network.idle.first === null;
    node.moveToEndOf(network.idle);
    if (wasAllBusy) this.#place(network);
  }

  /**
   * Of the network that has most connections the one that has been idle longest, or else the one whose request came first. Of
   * several such networks one with an idle connection is taken. Null when there is no connection.
   */
  firstOfLargest(): Socket | null {
    const size = this.#sizes[this.#largest];
    const network = size?.withIdle.first ?? size?.allBusy.first ?? null;
    return network === null ? null : (network.idle.first ?? network.busy.first);
  }

  #resize(network: Network, count: number): void {
    network.count = count;
    if (count === 0) {
      network.place.leave();
      this.#networks.delete(network.name);
    } else this.#place(network);
    this.#largest = Math.max(this.#largest, count);
    const size = this.#sizes[this.#largest];
    // It was the only one of its size, and has one less now.
    if (size?.withIdle.first === null && size.allBusy.first === null) this.#largest -= 1;
  }

  /** Behind those that have as many connections, and have an idle one or none as this network has. */
  #place({ count, idle, place }: Network): void {
    this.#sizes[count] ??= new Size();
    const size = this.#sizes[count];
    place.moveToEndOf(idle.first === null ? size.allBusy : size.withIdle);
  }
}
