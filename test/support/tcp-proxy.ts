import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Stands between a client and a server on 127.0.0.1, and can take the network away at will. */
export class TcpProxy {
  readonly #listener: Server;
  readonly #target: ProxyTarget;
  readonly #pairs = new Set<Pair>();
  #isPaused = false;
  #isSevered = false;

  private constructor(target: ProxyTarget) {
    this.#target = target;
    this.#listener = createServer((client) => this.#join(client));
  }

  /** Listens on a free port. */
  static async open(target: ProxyTarget): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** The given address with the proxy's host and port in the place of the target's. */
  through(url: string): string {
    const address = new URL(url);
    address.hostname = '127.0.0.1';
    address.port = String(this.port);
    return address.href;
  }

  /** Breaks every connection; new ones are taken at once. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    this.#pairs.clear();
  }

  /** Breaks every connection and every new one until `restore`. */
  sever(): void {
    this.#isSevered = true;
    this.cut();
  }

  restore(): void {
    this.#isSevered = false;
  }

  /** Connections stay open, but no byte passes in either direction until `resume`. */
  pause(): void {
    this.#isPaused = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  resume(): void {
    this.#isPaused = false;
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  /** Sends every client what the server did not say. */
  inject(bytes: Buffer): void {
    for (const { client } of this.#pairs) client.write(bytes);
  }

  async close(): Promise<void> {
    this.sever();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  #join(client: Socket): void {
    if (this.#isSevered) {
      client.destroy();
      return;
    }
    const server = connect(this.#target);
    const pair = { client, server };
    this.#pairs.add(pair);
    this.#pass(client, server, pair);
    this.#pass(server, client, pair);
    if (this.#isPaused) {
      client.pause();
      server.pause();
    }
  }

  #pass(from: Socket, to: Socket, pair: Pair): void {
    from.on('data', (chunk) => to.write(chunk));
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      to.destroy();
      this.#pairs.delete(pair);
    });
  }
}
