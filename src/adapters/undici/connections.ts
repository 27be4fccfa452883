import { Client } from 'undici';
import type { ConnectorOf } from './egress-guard.ts';
import type { TrustedProjects } from './trusted-projects.ts';

/** So many connections are kept that carry nothing: a process may have so many more open files than attempts in flight. */
export const IDLE_CONNECTIONS_MAX = 1_000;

/**
 * Keep-alive connections, each a `Client` that carries one request at a time. It does not limit how many there are, only
 * how many are idle.
 */
export class Connections {
  readonly #options: Client.Options;
  readonly #connectorOf: ConnectorOf;
  readonly #trustedProjects: Pick<TrustedProjects, 'trusts'>;
  readonly #watched = new WeakSet<Client>();
  /** By origin. The one that was used last is taken first. */
  readonly #idle = new Map<string, Client[]>();
  /** Those and their origins: the one that has been idle longest comes first. */
  readonly #origins = new Map<Client, string>();
  /** All that are not closed yet. */
  readonly #clients = new Set<Client>();

  constructor(
    options: Client.Options,
    connectorOf: ConnectorOf,
    trustedProjects: Pick<TrustedProjects, 'trusts'>,
  ) {
    this.#options = options;
    this.#connectorOf = connectorOf;
    this.#trustedProjects = trustedProjects;
  }

  /**
   * A connection that has carried a response before, or null. It ends with `keep` or `drop`. A watched one costs more
   * with each request: it is dropped once a new one of the project would not be watched.
   */
  takeIdle(origin: string, projectId: string): Client | null {
    const idle = this.#idle.get(origin);
    const client = idle?.pop() ?? null;
    if (idle?.length === 0) this.#idle.delete(origin);
    if (client === null) return null;
    this.#origins.delete(client);
    if (!this.#watched.has(client) || !this.#trustedProjects.trusts(projectId)) return client;
    this.drop(client);
    return null;
  }

  /** A new connection, whose handshake is the project's; later it carries requests of any. It ends with `keep` or `drop`. */
  open(origin: string, projectId: string): Client {
    const onWatched = (): void => void this.#watched.add(client);
    const connect = this.#connectorOf(projectId, onWatched);
    const client = new Client(origin, { ...this.#options, connect });
    this.#clients.add(client);
    client.on('disconnect', () => this.#dropIdle(client));
    return client;
  }

  /** The response ended in order: the connection may be used again, until too many are idle. */
  keep(origin: string, client: Client): void {
    const idle = this.#idle.get(origin);
    if (idle === undefined) this.#idle.set(origin, [client]);
    else idle.push(client);
    this.#origins.set(client, origin);
    if (this.#origins.size <= IDLE_CONNECTIONS_MAX) return;
    const [longestIdle] = this.#origins.keys();
    if (longestIdle !== undefined) this.#dropIdle(longestIdle);
  }

  /** Closes a connection on which something may still be on its way. */
  drop(client: Client): void {
    void client.destroy().finally(() => this.#clients.delete(client));
  }

  /** Resolves when every connection is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.destroy()));
  }

  #dropIdle(client: Client): void {
    const origin = this.#origins.get(client);
    if (origin === undefined) return;
    this.#origins.delete(client);
    const idle = this.#idle.get(origin) ?? [];
    idle.splice(idle.indexOf(client), 1);
    if (idle.length === 0) this.#idle.delete(origin);
    this.drop(client);
  }
}
