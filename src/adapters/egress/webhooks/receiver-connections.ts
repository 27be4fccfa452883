import { Client } from 'undici';
import type { ConnectorOf } from './egress-guard.ts';

/** The most idle connections that are kept. A process may have as many more open files than attempts in flight. */
export const IDLE_CONNECTIONS_MAX = 1_000;

/**
 * Keep-alive connections, each a `Client` that carries one request at a time. Projects share none: what a receiver does on a
 * connection is the matter of one project. It does not limit how many there are, only how many are idle.
 */
export class ReceiverConnections {
  readonly #options: Client.Options;
  readonly #connectorOf: ConnectorOf;
  /** All that are not closed yet, with the origin and the project that they are for. */
  readonly #clients = new Map<Client, string>();
  /** The idle ones by origin and project. The one that was used last is taken first. */
  readonly #idle = new Map<string, Client[]>();
  /** All idle ones. The one that has been idle longest comes first. */
  readonly #byAge = new Set<Client>();

  constructor(options: Client.Options, connectorOf: ConnectorOf) {
    this.#options = options;
    this.#connectorOf = connectorOf;
  }

  /** A connection that has carried a response before, or null. It ends with `keep` or `drop`. */
  takeIdle(origin: string, projectId: string): Client | null {
    const key = keyOf(origin, projectId);
    const idle = this.#idle.get(key);
    const client = idle?.pop() ?? null;
    if (idle?.length === 0) this.#idle.delete(key);
    if (client !== null) this.#byAge.delete(client);
    return client;
  }

  /** A new connection. It ends with `keep` or `drop`. */
  open(origin: string, projectId: string): Client {
    const client = new Client(origin, { ...this.#options, connect: this.#connectorOf(projectId) });
    this.#clients.set(client, keyOf(origin, projectId));
    client.on('disconnect', () => this.#dropIdle(client));
    return client;
  }

  /** The response ended in order: the connection may be used again, until too many are idle. */
  keep(client: Client): void {
    const key = this.#clients.get(client);
    if (key === undefined) return;
    const idle = this.#idle.get(key);
    if (idle === undefined) this.#idle.set(key, [client]);
    else idle.push(client);
    this.#byAge.add(client);
    if (this.#byAge.size <= IDLE_CONNECTIONS_MAX) return;
    const [longestIdle] = this.#byAge;
    if (longestIdle !== undefined) this.#dropIdle(longestIdle);
  }

  /** Closes a connection on which something may still be on its way. */
  drop(client: Client): void {
    void client.destroy().finally(() => this.#clients.delete(client));
  }

  /** Resolves when every connection is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((client) => client.destroy()));
  }

  #dropIdle(client: Client): void {
    const key = this.#clients.get(client);
    if (key === undefined || !this.#byAge.delete(client)) return;
    const idle = this.#idle.get(key) ?? [];
    idle.splice(idle.indexOf(client), 1);
    if (idle.length === 0) this.#idle.delete(key);
    this.drop(client);
  }
}

function keyOf(origin: string, projectId: string): string {
  return `${projectId} ${origin}`;
}
