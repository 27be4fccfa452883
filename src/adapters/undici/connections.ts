import { Client } from 'undici';
import type { ConnectorOf } from './egress-guard.ts';

/** So many connections are kept that carry nothing: a process may have so many more open files than attempts in flight. */
export const IDLE_CONNECTIONS_MAX = 1_000;

/**
 * Keep-alive connections, each a `Client` that carries one request at a time. It does not limit how many there are, only
 * how many are idle.
 */
export class Connections {
  readonly #options: Client.Options;
  readonly #connectorOf: ConnectorOf;
  /** By origin. The one that was used last is taken first. */
  readonly #idle = new Map<string, Client[]>();
  /** Those and their origins: the one that has been idle longest comes first. */
  readonly #origins = new Map<Client, string>();
  /** All that are not closed yet. */
  readonly #clients = new Set<Client>();

  constructor(options: Client.Options, connectorOf: ConnectorOf) {
    this.#options = options;
    this.#connectorOf = connectorOf;
  }

  /** A connection that has carried a response before, or null. It ends with `keep` or `drop`. */
  takeIdle(origin: string): Client | null {
    const idle = this.#idle.get(origin);
    const client = idle?.pop() ?? null;
    if (idle?.length === 0) this.#idle.delete(origin);
    if (client !== null) this.#origins.delete(client);
    return client;
  }

  /** A new connection, whose handshake is the project's; later it carries requests of any. It ends with `keep` or `drop`. */
  open(origin: string, projectId: string): Client {
    const client = new Client(origin, { ...this.#options, connect: this.#connectorOf(projectId) });
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
