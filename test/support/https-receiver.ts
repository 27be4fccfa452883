import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach } from 'vitest';
import type { HarnessOptions } from '../../src/bootstrap/harness.ts';
import { withCertificateAuthority } from './certificates.ts';
import { hasOpenssl } from './openssl.ts';

export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
}

type Response = (post: ReceivedPost, response: ServerResponse, count: number) => void;

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Response =>
  (_, response) =>
    response.writeHead(status, headers).end();

/** Null where the openssl command line is missing; the tests that need it are skipped then. */
const certificates = hasOpenssl
  ? withCertificateAuthority((authority) => ({ ca: authority.ca, leaf: authority.issue('localhost', 2) }))
  : null;
const opened: HttpsReceiver[] = [];

afterEach(closeAll);
afterAll(closeAll);

/** A customer's server on this machine, with a certificate of its own authority. */
export class HttpsReceiver {
  readonly posts: ReceivedPost[] = [];
  readonly port: number;
  readonly #server: Server;
  readonly #arrivals = new EventEmitter();
  #answer: Response;

  static async open(answer: Response = answerWith(200)): Promise<HttpsReceiver> {
    const server = createServer({ ...certificates?.leaf });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new HttpsReceiver(server, answer);
    opened.push(receiver);
    return receiver;
  }

  private constructor(server: Server, answer: Response) {
    this.#server = server;
    this.#answer = answer;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request, response) => {
      let rawBody = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        rawBody += chunk;
      });
      request.on('end', () => {
        const post = { path: request.url ?? '', headers: request.headers, rawBody };
        this.posts.push(post);
        this.#arrivals.emit('post');
        this.#answer(post, response, this.posts.length);
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

  answer(answer: Response): void {
    this.#answer = answer;
  }

  /** Resolves when that many posts have arrived in all. */
  async arrived(count: number): Promise<void> {
    while (this.posts.length < count) await once(this.#arrivals, 'post');
  }

  bodies(): readonly Record<string, unknown>[] {
    return this.posts.map(({ rawBody }) => JSON.parse(rawBody) as Record<string, unknown>);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

async function closeAll(): Promise<void> {
  for (const receiver of opened.splice(0)) await receiver.close();
}
