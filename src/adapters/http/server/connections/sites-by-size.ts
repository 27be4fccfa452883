import type { Socket } from 'node:net';
import { RingNode } from './ring-node.ts';

/** The open connections of one site: `siteOf` says which addresses are one. */
class Site {
  readonly name: string;
  count = 0;
  /** The longest idle first. */
  readonly idle = new RingNode<Socket>(null);
  /** The one whose request came first is the first. */
  readonly busy = new RingNode<Socket>(null);
  /** Its place among the sites with as many connections. */
  readonly place: RingNode<Site> = new RingNode<Site>(this);

  constructor(name: string) {
    this.name = name;
  }
}

/** The sites with one number of connections. Of each list the one that joined it first is the first. */
class Size {
  readonly withIdle = new RingNode<Site>(null);
  readonly allBusy = new RingNode<Site>(null);
}

/** An open connection. */
interface OpenSocket {
  readonly site: Site;
  readonly node: RingNode<Socket>;
}

/**
 * Open connections, by the site of their other ends and by how many that has. Each operation takes the same time however many
 * there are.
 */
export class SitesBySize {
  readonly #connections = new Map<Socket, OpenSocket>();
  readonly #sites = new Map<string, Site>();
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

  /** Whether no site has more connections than this one. */
  hasMost(name: string): boolean {
    return (this.#sites.get(name)?.count ?? 0) === this.#largest;
  }

  /** Adds a new connection, which is idle. */
  add(socket: Socket, name: string): void {
    const site = this.#sites.get(name) ?? new Site(name);
    this.#sites.set(name, site);
    const node = new RingNode(socket);
    this.#connections.set(socket, { site, node });
    node.moveToEndOf(site.idle);
    this.#resize(site, site.count + 1);
  }

  /** Does nothing for a connection that is not there. */
  remove(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { site, node } = connection;
    this.#connections.delete(socket);
    node.leave();
    this.#resize(site, site.count - 1);
  }

  /** Does nothing for a connection that is not there. */
  markBusy(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { site, node } = connection;
    node.moveToEndOf(site.busy);
    if (site.idle.first === null) this.#place(site);
  }

  /** Does nothing for a connection that is not there. */
  markIdle(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { site, node } = connection;
    const wasAllBusy = site.idle.first === null;
    node.moveToEndOf(site.idle);
    if (wasAllBusy) this.#place(site);
  }

  /**
   * Of the site that has most connections the one that has been idle longest, or else the one whose request came first. Of
   * several such sites one with an idle connection is taken. Null when there is no connection.
   */
  firstOfLargest(): Socket | null {
    const size = this.#sizes[this.#largest];
    const site = size?.withIdle.first ?? size?.allBusy.first ?? null;
    return site === null ? null : (site.idle.first ?? site.busy.first);
  }

  #resize(site: Site, count: number): void {
    site.count = count;
    if (count === 0) {
      site.place.leave();
      this.#sites.delete(site.name);
    } else this.#place(site);
    this.#largest = Math.max(this.#largest, count);
    const size = this.#sizes[this.#largest];
    // It was the only one of its size, and has one less now.
    if (size?.withIdle.first === null && size.allBusy.first === null) this.#largest -= 1;
  }

  /** Behind those that have as many connections, and have an idle one or none as this site has. */
  #place({ count, idle, place }: Site): void {
    this.#sizes[count] ??= new Size();
    const size = this.#sizes[count];
    place.moveToEndOf(idle.first === null ? size.allBusy : size.withIdle);
  }
}
