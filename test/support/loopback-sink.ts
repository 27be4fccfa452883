import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** A server on a loopback address that nothing may ever reach. */
export class LoopbackSink {
  readonly port: number;
  /** Connections made to it so far. */
  connections = 0;
  /** Bytes sent to it so far. */
  bytes = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      this.connections += 1;
      socket.on('data', (chunk) => {
        this.bytes += chunk.length;
      });
      socket.on('error', () => socket.destroy());
    });
  }

  static async open(): Promise<LoopbackSink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LoopbackSink(server);
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}
