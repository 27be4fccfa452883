/** The two gateways of docs/sms-over-http.md, on this machine. */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { CallbackRequest } from '../../../src/application/ports/provider-callback.ts';
import { countSmsParts } from '../../../src/domain/sms/sms-parts.ts';
import { portOf } from '../../support/port-of.ts';

/** What the examples of the page take from the environment. */
export const CREDENTIALS = {
  GATEWAY_TOKEN: 'bearer-token-1',
  GATEWAY_SIGNING_KEY: 'signing-key-1',
  GATEWAY_PASSWORD: 'p&ss word+1',
  GATEWAY_CALLBACK_TOKEN: 'callback-token-1',
} as const;

export interface GatewayRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A message as the gateway understood it. */
export interface CarriedMessage {
  readonly to: string;
  readonly from: string | null;
  readonly text: string;
  readonly reference: string;
}

/** What a dialect makes of a message: its response, and the receipts of what it accepted. */
export interface Dialect {
  /** Null for what is no message, such as a check. */
  readonly read: (request: GatewayRequest) => CarriedMessage | null;
  readonly accept: (response: ServerResponse, ids: readonly string[]) => void;
  readonly reject: (response: ServerResponse) => void;
  /** One id for each part, or one for the whole message. */
  readonly hasIdsOfParts: boolean;
  readonly receipt: (id: string, isDelivered: boolean) => CallbackRequest;
}

/** The last digits of a number say what becomes of its message. */
const REJECTED_NUMBER = /0006$/;
const BROKEN_NUMBER = /0011$/;
const UNDELIVERED_NUMBER = /0002$/;

export const JSON_DIALECT: Dialect = {
  read({ method, url, headers, body }) {
    if (method !== 'POST' || url.pathname !== '/v1/messages') return null;
    if (headers.authorization !== `Bearer ${CREDENTIALS.GATEWAY_TOKEN}`) return null;
    if (headers['content-type'] !== 'application/json') return null;
    const { recipient, sender, text, reference, validity } = JSON.parse(body);
    if (!/^\+\d+$/.test(recipient) || typeof validity !== 'number') return null;
    return { to: recipient, from: sender ?? null, text, reference };
  },
  accept(response, ids) {
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'accepted', parts: ids.map((id) => ({ id })) }));
  },
  reject(response) {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: 'NUMBER_BLOCKED', message: 'The number is blocked' } }));
  },
  hasIdsOfParts: true,
  receipt(id, isDelivered) {
    const receipt = isDelivered ? { id, state: 'DELIVERED' } : { id, state: 'UNDELIVERED', error: 'absent' };
    return signedReceipts({ receipts: [receipt] });
  },
};

export const QUERY_DIALECT: Dialect = {
  read({ method, url }) {
    const query = url.searchParams;
    if (method !== 'GET' || url.pathname !== '/send') return null;
    if (query.get('user') !== 'barid' || query.get('password') !== CREDENTIALS.GATEWAY_PASSWORD) return null;
    if (!/^\d+$/.test(query.get('to') ?? '') || !/^[08]$/.test(query.get('coding') ?? '')) return null;
    return {
      to: query.get('to') ?? '',
      from: query.get('from'),
      text: query.get('msg') ?? '',
      reference: query.get('ref') ?? '',
    };
  },
  accept: (response, [id]) => response.writeHead(200, { 'content-type': 'text/plain' }).end(`OK ${id}\r\n`),
  reject: (response) => response.writeHead(200).end('ERR 7 no such number\r\n'),
  hasIdsOfParts: false,
  receipt(id, isDelivered) {
    const outcome = isDelivered ? { status: 'DELIVRD' } : { status: 'UNDELIV', err: '27' };
    return queryReceipt({ token: CREDENTIALS.GATEWAY_CALLBACK_TOKEN, id, ...outcome });
  },
};

/** A body with the signature of the JSON gateway. */
export function signedReceipts(
  body: unknown,
  key: string = CREDENTIALS.GATEWAY_SIGNING_KEY,
): CallbackRequest {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const digest = createHmac('sha256', key).update(bytes).digest('hex');
  return aCallback({ headers: { 'x-signature': `sha256=${digest}` }, body: bytes });
}

/** A call of the query gateway. */
export function queryReceipt(query: Readonly<Record<string, string>>): CallbackRequest {
  return aCallback({ method: 'GET', query: new URLSearchParams(query) });
}

export function aCallback(given: Partial<CallbackRequest> = {}): CallbackRequest {
  return { method: 'POST', query: new URLSearchParams(), headers: {}, body: Buffer.alloc(0), ...given };
}

/** A gateway that speaks one dialect; numbers decide what becomes of a message. */
export class StandInGateway {
  readonly requests: GatewayRequest[] = [];
  readonly carried: CarriedMessage[] = [];
  /** Receipts that wait to be brought to the callback. */
  readonly receipts: CallbackRequest[] = [];
  readonly #server: Server;
  readonly #dialect: Dialect;

  static async open(dialect: Dialect): Promise<StandInGateway> {
    const gateway = new StandInGateway(dialect);
    gateway.#server.listen(0, '127.0.0.1');
    await once(gateway.#server, 'listening');
    return gateway;
  }

  private constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method = '', headers } = request;
        const url = new URL(request.url ?? '/', this.origin);
        this.#take({ method, url, headers, body }, response);
      });
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #take(request: GatewayRequest, response: ServerResponse): void {
    this.requests.push(request);
    const message = this.#dialect.read(request);
    if (message === null) {
      const isCheck = request.url.pathname === '/v1/account';
      const isAuthorized = request.headers.authorization === `Bearer ${CREDENTIALS.GATEWAY_TOKEN}`;
      response.writeHead(isCheck && isAuthorized ? 200 : 401).end('{}');
      return;
    }
    this.carried.push(message);
    if (BROKEN_NUMBER.test(message.to)) {
      response.writeHead(500).end('<html>Internal error</html>');
    } else if (REJECTED_NUMBER.test(message.to)) {
      this.#dialect.reject(response);
    } else {
      const count = this.#dialect.hasIdsOfParts ? countSmsParts(message.text) : 1;
      const ids = Array.from({ length: count }, () => randomUUID().replaceAll('-', ''));
      const isDelivered = !UNDELIVERED_NUMBER.test(message.to);
      for (const id of ids) this.receipts.push(this.#dialect.receipt(id, isDelivered));
      this.#dialect.accept(response, ids);
    }
  }
}
