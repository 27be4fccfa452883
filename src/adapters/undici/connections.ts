import { Client } from 'undici';

/** Keep-alive connections, each a `Client` that carries one request at a time. It does not limit how many there are. */
export class Connections {
  readonly #options: Client.Options;
  /** By origin. The one that was used last is taken first. */
  readonly #idle = new Map<string, Client[]>();
  /** All that are not closed yet. */
  readonly #clients = new Set<Client>();

  constructor(options: Client.Options) {
    this.#options = options;
  }

  /** A connection that has carried a response before, or null. It ends with `keep` or `drop`. */
  takeIdle(origin: string): Client | null {
    const idle = this.#idle.get(origin);
    const client = idle?.pop() ?? null;
    if (idle?.length === 0) this.#idle.delete(origin);
    return client;
  }

  /** A new connection. It ends with `keep` or `drop`. */
  open(origin: string): Client {
    const client = new Client(origin, this.#options);
    this.#clients.add(client);
    client.on('disconnect', () => this.#dropIdle(origin, client));
    return client;
  }

  /** The response ended in order: the connection may be used again. */
  keep(origin: string, client: Client): void {
    const idle = this.#idle.get(origin);
    if (idle === undefined) this.#idle.set(origin, [client]);
    else idle.push(client);
  }

  /** Closes a connection on which something may still be on its way. */
  drop(client: Client): void {
    void client.destroy().finally(() => this.#clients.delete(client));
  }

  /** Resolves when every connection is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.destroy()));
  }

  #dropIdle(origin: string, client: Client): void {
    const idle = this.#idle.get(origin) ?? [];
    const at = idle.indexOf(client);
    if (at < 0) return;
    idle.splice(at, 1);
    if (idle.length === 0) this.#idle.delete(origin);
    this.drop(client);
  }
}
