import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';

/** One whole request as it came over the wire. */
export interface ReceivedRequest {
  readonly head: string;
  readonly body: string;
}

/** What a receiver does with a request: writes what it likes to the socket. */
export type Behaviour = (socket: TLSSocket, request: ReceivedRequest) => void;

const HEAD_END = '\r\n\r\n';

/** An HTTPS server that is written by hand, so that it can do everything a real one must not do. */
export class TlsReceiver {
  readonly port: number;
  readonly requests: ReceivedRequest[] = [];
  /** TCP connections made to it so far. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, behave: Behaviour) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('tlsClientError', () => undefined);
    server.on('secureConnection', (socket) => {
      socket.on('error', () => socket.destroy());
      this.#readRequests(socket, behave);
    });
  }

  static async open(
    options: TlsOptions,
    behave: Behaviour,
    address = '127.0.0.1',
    port = 0,
  ): Promise<TlsReceiver> {
    const server = createServer(options);
    server.listen(port, address);
    await once(server, 'listening');
    return new TlsReceiver(server, behave);
  }

  /** Resolves with the next request that comes in completely. */
  async nextRequest(): Promise<void> {
    await once(this.#server, 'whole-request');
  }

  /** Ends every connection; closing it again does nothing. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #readRequests(socket: TLSSocket, behave: Behaviour): void {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      const headEnd = text.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = text.slice(0, headEnd);
      const body = text.slice(headEnd + HEAD_END.length);
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
      if (Buffer.byteLength(body, 'utf8') < length) return;
      text = '';
      const request = { head, body };
      this.requests.push(request);
      this.#server.emit('whole-request');
      behave(socket, request);
    });
  }
}
