import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import { withCertificateAuthority } from './certificates.ts';
import { hasOpenssl } from './openssl.ts';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
}

type Respond = (request: ReceivedRequest, response: ServerResponse, count: number) => void;

export const respondWith =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (_, response) =>
    response.writeHead(status, headers).end();

/** Null where the openssl command line is missing; the tests that need it are skipped then. */
const certificates = hasOpenssl
  ? withCertificateAuthority((authority) => ({ ca: authority.ca, leaf: authority.issue('localhost', 2) }))
  : null;
/** A customer's server on this machine, with a certificate of its own authority. */
export class HttpsReceiver {
  readonly requests: ReceivedRequest[] = [];
  readonly port: number;
  readonly #server: Server;
  readonly #arrivals = new EventEmitter();
  #respond: Respond;

  static async open(respond: Respond = respondWith(200)): Promise<HttpsReceiver> {
    const server = createServer({ ...certificates?.leaf });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new HttpsReceiver(server, respond);
    onTestFinished(() => receiver.close());
    return receiver;
  }

  private constructor(server: Server, respond: Respond) {
    this.#server = server;
    this.#respond = respond;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request, response) => {
      let rawBody = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        rawBody += chunk;
      });
      request.on('end', () => {
        const received = { path: request.url ?? '', headers: request.headers, rawBody };
        this.requests.push(received);
        this.#arrivals.emit('request');
        this.#respond(received, response, this.requests.length);
      });
    });
  }

  url(path = '/hook'): string {
    return `https://localhost:${this.port}${path}`;
  }

  /** What a harness needs to be let through to this receiver. */
  get egress(): NonNullable<HarnessOptions['egress']> {
    return { allow: ['127.0.0.1/32', '::1/128'], ports: [this.port], ca: certificates?.ca ?? '' };
  }

  respond(respond: Respond): void {
    this.#respond = respond;
  }

  /** Resolves when that many requests have arrived in all. */
  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await once(this.#arrivals, 'request');
  }

  bodies(): readonly Record<string, unknown>[] {
    return this.requests.map(({ rawBody }) => JSON.parse(rawBody) as Record<string, unknown>);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
