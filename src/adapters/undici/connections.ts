import type { Client } from 'undici';

/** The connections to each origin. The one that was given back last is the first to be taken again. */
export class Connections {
  readonly #make: (origin: string) => Client;
  /** Those nobody posts on, by their origins. */
  readonly #idle = new Map<string, Client[]>();
  /** All that are not closed yet. */
  readonly #clients = new Set<Client>();

  constructor(make: (origin: string) => Client) {
    this.#make = make;
  }

  /** One that was in use before, or null; to be given back by `give`, or by `drop`. */
  takeUsed(origin: string): Client | null {
    const idle = this.#idle.get(origin);
    const client = idle?.pop() ?? null;
    if (idle?.length === 0) this.#idle.delete(origin);
    return client;
  }

  /** The exchange ended in order. */
  give(origin: string, client: Client): void {
    const idle = this.#idle.get(origin);
    if (idle === undefined) this.#idle.set(origin, [client]);
    else idle.push(client);
  }

  /** Something may still be on its way on this one. */
  drop(client: Client): void {
    void client.destroy().finally(() => this.#clients.delete(client));
  }

  /** Resolves when every connection is closed. */
  async destroy(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.destroy()));
  }

  /** A new one; to be given back likewise. */
  open(origin: string): Client {
    const client = this.#make(origin);
    this.#clients.add(client);
    client.on('disconnect', () => this.#forgetIdle(origin, client));
    return client;
  }

  #forgetIdle(origin: string, client: Client): void {
    const idle = this.#idle.get(origin) ?? [];
    const at = idle.indexOf(client);
    if (at < 0) return;
    idle.splice(at, 1);
    if (idle.length === 0) this.#idle.delete(origin);
    this.drop(client);
  }
}
