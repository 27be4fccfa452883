import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Wait } from '../../../src/adapters/http/families/messages/sandbox-faults.ts';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from '../../../src/adapters/http/http-server.ts';
import type { ObservedReply } from '../../../src/adapters/http/server/writing/observed-reply.ts';
import { DEMO_API_KEY } from '../../../src/bootstrap/config/demo-seed.ts';
import { documentedReplies } from '../../support/documented-replies.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { MemoryApi } from './memory-api.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; null when it is empty or something else. */
  readonly body: unknown;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Without the project's key. */
  readonly keyless?: boolean;
  /** The address that the request comes from. */
  readonly from?: string;
}

export interface WorldOptions extends Partial<HttpServerOptions> {
  readonly wait?: Wait;
}

/** A listening server over use cases by hand; every reply that leaves it is checked against its document. */
export class HttpWorld {
  readonly api = new MemoryApi();
  readonly logger = new RecordingLogger();
  readonly seen: ObservedReply[] = [];
  readonly undocumented: unknown[] = [];
  readonly http: HttpServer;
  #requestCount = 0;

  constructor({ wait, ...options }: WorldOptions = {}) {
    this.http = createHttpServer({
      families: this.api.families(wait),
      logger: this.logger,
      requestIds: () => `request-${++this.#requestCount}`,
      observeReply: (seen) => this.#check(seen),
      ...options,
    });
    this.#documented = documentedReplies(this.http.openApi);
  }

  readonly #documented: (seen: ObservedReply) => void;

  get port(): number {
    return (this.http.server.address() as AddressInfo).port;
  }

  async open(): Promise<this> {
    this.http.server.listen(0, '127.0.0.1');
    await once(this.http.server, 'listening');
    return this;
  }

  /** Closes, and fails the test that got a reply the document does not know. */
  async close(): Promise<void> {
    await this.http.closeGracefully({ timeoutMs: 1_000, lingerMs: 0 });
    if (this.undocumented.length > 0) throw this.undocumented[0];
  }

  /** One request with the project's key. */
  async call(
    method: string,
    path: string,
    { headers = {}, body, keyless = false, from = '127.0.0.1' }: Call = {},
  ): Promise<Reply> {
    const key = keyless ? {} : { authorization: `Bearer ${DEMO_API_KEY}` };
    const request = httpRequest({
      port: this.port,
      host: '127.0.0.1',
      localAddress: from,
      method,
      path,
      headers: { ...key, ...headers },
      agent: false,
    });
    request.end(body);
    const [response] = await once(request, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      body: isJson(response.headers['content-type']) && text !== '' ? JSON.parse(text) : null,
    };
  }

  /** A JSON request. */
  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.postRaw(path, JSON.stringify(body), headers);
  }

  /** A JSON request whose body is given as it goes over the wire. */
  postRaw(
    path: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    return this.call('POST', path, { headers: { 'content-type': 'application/json', ...headers }, body });
  }

  #check(seen: ObservedReply): void {
    this.seen.push(seen);
    try {
      this.#documented(seen);
    } catch (error) {
      this.undocumented.push(error);
    }
  }
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.startsWith('application/json') ?? false;
}
