import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from '../support/port-of.ts';
import { WireClient, type WireReply } from './wire-request.ts';

/** A request on its way through the front, and the way to the service behind it. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Sends the request to the service, changed where told. */
  forward(changes?: Partial<Pick<Passing, 'method' | 'path' | 'headers' | 'body'>>): Promise<WireReply>;
}

export type Fault = (passing: Passing) => Promise<WireReply>;

/** More than the service takes, which then rejects them itself. */
const HEADER_BYTES_MAX = 128 * 1024;
/** Longer than any pause between two requests. */
const KEEP_ALIVE_MS = 65_000;
/** Between two servers, or made anew for a body of another length. */
const OWN_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

/** A server in front of a service, which has a fault that the service has not. */
export class FaultyFront {
  readonly port: number;
  readonly #server: Server;
  readonly #client: WireClient;

  static async open(servicePort: number, fault: Fault): Promise<FaultyFront> {
    const client = new WireClient(servicePort);
    const server = createServer(
      { maxHeaderSize: HEADER_BYTES_MAX, keepAliveTimeout: KEEP_ALIVE_MS },
      async (request, response) => {
        const reply = await fault(await passing(request, client));
        if (reply.status === 0) {
          request.socket.destroy();
          return;
        }
        response.writeHead(reply.status, without(OWN_HEADERS, reply.headers)).end(reply.text);
      },
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new FaultyFront(server, client);
  }

  private constructor(server: Server, client: WireClient) {
    this.#server = server;
    this.#client = client;
    this.port = portOf(server);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#client.close();
  }
}

async function passing(request: IncomingMessage, client: WireClient): Promise<Passing> {
  const { method = '', url: path = '' } = request;
  const headers = without(OWN_HEADERS, request.headers as Readonly<Record<string, string>>);
  const bytes = await buffer(request);
  const given = { method, path, headers };
  return {
    ...given,
    body: bytes.toString('utf8'),
    forward: (changes = {}) => {
      const { body: changed, ...rest } = changes;
      const body = changed === undefined ? bytes : Buffer.from(changed);
      return client.send({ ...given, ...rest, ...(body.length > 0 && { body }) });
    },
  };
}

function without(
  names: readonly string[],
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
