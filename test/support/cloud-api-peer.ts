import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { CallbackRequest } from '../../src/application/ports/provider-callback.ts';

export const APP_SECRET = 'app-secret-of-the-tests';
export const ACCESS_TOKEN = 'access-token-of-the-tests';
export const VERIFY_TOKEN = 'verify-token-of-the-tests';

/** Ids as Meta gives them: of the account, of its number, of the customer. */
export const WABA_ID = '102290129340398';
export const PLATFORM_PHONE_ID = '106540352242922';

type Json = Readonly<Record<string, unknown>>;

export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Null without one. */
  readonly body: Json | null;
}

/** Responds to one request; `count` counts from 1. */
export type PeerBehaviour = (request: PeerRequest, response: ServerResponse, count: number) => void;

/** Meta's side of the Cloud API on this machine, in the published shapes: takes messages, and has callbacks to bring. */
export class CloudApiPeer {
  readonly requests: PeerRequest[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #arrivals = new EventEmitter();
  #behaviour: PeerBehaviour;
  #callbacks: CallbackRequest[] = [];

  static async open(behaviour: PeerBehaviour = accept): Promise<CloudApiPeer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const peer = new CloudApiPeer(server, behaviour);
    onTestFinished(() => peer.close());
    return peer;
  }

  private constructor(server: Server, behaviour: PeerBehaviour) {
    this.#server = server;
    this.#behaviour = behaviour;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const { pathname, searchParams } = new URL(incoming.url ?? '/', this.url);
        const text = Buffer.concat(chunks).toString('utf8');
        const request = {
          method: incoming.method ?? '',
          path: pathname,
          query: searchParams,
          headers: incoming.headers,
          body: text === '' ? null : (JSON.parse(text) as Json),
        };
        this.requests.push(request);
        this.#arrivals.emit('request');
        this.#behaviour(request, response, this.requests.length);
      });
    });
  }

  behave(behaviour: PeerBehaviour): void {
    this.#behaviour = behaviour;
  }

  /** Resolves when that many requests have arrived in all. */
  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await once(this.#arrivals, 'request');
  }

  /** The bodies of the messages it was sent, in the order of their arrival. */
  messages(): readonly Json[] {
    return this.requests.flatMap(({ method, body }) => (method === 'POST' && body !== null ? [body] : []));
  }

  /** Has a callback to bring. */
  queue(content: Json): void {
    this.#callbacks.push(signedCallback(JSON.stringify(content)));
  }

  /** Brings every callback that was not acknowledged yet; `take` says whether it is. */
  async bring(take: (callback: CallbackRequest) => Promise<boolean>): Promise<void> {
    const waiting = this.#callbacks;
    this.#callbacks = [];
    for (const callback of waiting) if (!(await take(callback))) this.#callbacks.push(callback);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Takes the message under an id that follows from its recipient, which no test sends to twice. */
export const accept: PeerBehaviour = (request, response) => {
  const to = String(request.body?.to ?? '');
  respondJson(response, 200, {
    messaging_product: 'whatsapp',
    contacts: [{ input: to, wa_id: to }],
    messages: [{ id: wamidOf(to) }],
  });
};

export const wamidOf = (to: string): string => `wamid.${Buffer.from(`message to ${to}`).toString('base64')}`;

/** The error object of the Graph API. */
export const failWith =
  (code: number, status = 400, message = `(#${code}) Something`): PeerBehaviour =>
  (_, response) =>
    respondJson(response, status, {
      error: {
        message,
        type: 'OAuthException',
        code,
        error_data: { messaging_product: 'whatsapp', details: `Details of ${code}` },
        fbtrace_id: 'AkHq1cZ5v0k',
      },
    });

export function respondJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}

/** A callback as it comes over HTTP, signed with the app secret unless another one is given. */
export function signedCallback(text: string, secret = APP_SECRET): CallbackRequest {
  const body = Buffer.from(text, 'utf8');
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    method: 'POST',
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  };
}

/** The envelope of what happened to one number. */
export function callbackOf(change: Json, platformId = PLATFORM_PHONE_ID): Json {
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: WABA_ID,
        changes: [
          {
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '9647700000001', phone_number_id: platformId },
              ...change,
            },
            field: 'messages',
          },
        ],
      },
    ],
  };
}

/** A status of a message, without price. */
export const aStatus = (id: string, status: string, given: Json = {}): Json => ({
  id,
  status,
  timestamp: '1768478401',
  recipient_id: '9647712345678',
  ...given,
});
