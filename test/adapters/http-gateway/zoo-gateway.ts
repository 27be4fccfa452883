import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { portOf } from '../../support/port-of.ts';

/** What a gateway does with every request: a response, or none. */
export type Beast =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'silence'
  | 'reset'
  | 'break-off';

interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A gateway of this machine that misbehaves in one way. */
export class ZooGateway {
  readonly #server: Server;
  readonly #seen: Seen[] = [];

  static async open(beast: Beast, port = 0): Promise<ZooGateway> {
    const zoo = new ZooGateway(beast);
    zoo.#server.listen(port, '127.0.0.1');
    await once(zoo.#server, 'listening');
    return zoo;
  }

  private constructor(beast: Beast) {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        this.#seen.push({ url: request.url ?? '', headers: request.headers, body });
        behave(beast, response);
      });
    });
  }

  get port(): number {
    return portOf(this.#server);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** How many requests came. */
  requests(): number {
    return this.#seen.length;
  }

  /** The last request. Throws when none came. */
  last(): Seen {
    const last = this.#seen.at(-1);
    if (last === undefined) throw new Error('No request came');
    return last;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function behave(beast: Beast, response: ServerResponse): void {
  response.on('error', () => undefined);
  if (beast === 'silence') return;
  if (beast === 'reset') {
    response.destroy();
  } else if (beast === 'break-off') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"id":"a1"', () => response.destroy());
  } else {
    response.writeHead(beast.status, beast.headers).end(beast.body);
  }
}
