import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as the client sent it, and what the service replied; null when the relay did not forward it. */
export interface RelayedRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | null;
  readonly reply: { readonly status: number; readonly isReplay: boolean } | null;
}

/**
 * What becomes of one request: `drop` cuts the connection instead of the reply of the service, `cut` in the middle of it,
 * `hang` forwards and never replies; a reply of its own keeps the request from the service.
 */
export type Fault =
  | 'drop'
  | 'cut'
  | 'hang'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** Stands between a client and the service. The first requests meet the planned faults, later ones none. */
export class FaultyRelay {
  readonly requests: RelayedRequest[] = [];
  readonly #server: Server;
  readonly #target: string;
  #faults: Fault[] = [];

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#relay(request, response).catch(() => response.destroy());
    });
  }

  static async open(target: string): Promise<FaultyRelay> {
    const relay = new FaultyRelay(target);
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The faults of the next requests, one each. */
  plan(...faults: Fault[]): void {
    this.#faults.push(...faults);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.#faults.shift() ?? null;
    const { method = '', url: path = '', headers } = request;
    const given = await buffer(request);
    const key = headers['idempotency-key'];
    const seen = { method, path, idempotencyKey: typeof key === 'string' ? key : null };
    if (fault !== null && typeof fault === 'object') {
      this.requests.push({ ...seen, reply: null });
      response.writeHead(fault.status, { ...fault.headers }).end(fault.body);
      return;
    }
    const { authorization = '', 'content-type': type } = headers;
    const reply = await fetch(`${this.#target}${path}`, {
      method,
      headers: {
        authorization,
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(seen.idempotencyKey === null ? {} : { 'idempotency-key': seen.idempotencyKey }),
      },
      ...(given.length === 0 ? {} : { body: given }),
    });
    const body = Buffer.from(await reply.arrayBuffer());
    const isReplay = reply.headers.has('idempotency-replayed');
    this.requests.push({ ...seen, reply: { status: reply.status, isReplay } });
    if (fault === 'drop') return void request.socket.destroy();
    if (fault === 'hang') return;
    response.writeHead(reply.status, { ...Object.fromEntries(reply.headers), 'content-length': body.length });
    if (fault === 'cut') return void response.write(body.subarray(0, 10), () => request.socket.destroy());
    response.end(body);
  }
}
