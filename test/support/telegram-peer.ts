import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { portOf } from './port-of.ts';

/** What a stand-in does instead of its duty, for one method or for all. */
export type Mischief =
  /** Responds `{ ok: false, error }`. */
  | { readonly kind: 'error'; readonly code: unknown; readonly status?: number }
  /** Responds with these bytes. */
  | { readonly kind: 'response'; readonly status: number; readonly body: string; readonly mediaType?: string }
  /** Responds `{ ok: true, result }` with another result than the real one. */
  | { readonly kind: 'result'; readonly result: unknown }
  /** Reads the request, and ends the connection. */
  | { readonly kind: 'reset' }
  /** Reads the request, and says nothing. */
  | { readonly kind: 'silence' };

/** A request as the stand-in keeps it. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly phoneNumber: string;
  /** What was sent; null while only the ability to send was checked. */
  message: Readonly<Record<string, unknown>> | null;
  isRevoked: boolean;
}

/** One call of a method, as it came in. */
export interface GatewayCall {
  readonly method: string;
  readonly authorization: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A report as it is sent. */
export interface SignedReport {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface WaitingReport {
  readonly callbackUrl: string;
  readonly body: string;
}

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';
export const HTML_RESPONSE: Mischief = { kind: 'response', status: 200, body: HTML, mediaType: 'text/html' };
export const BAD_GATEWAY: Mischief = { kind: 'response', status: 502, body: HTML, mediaType: 'text/html' };

const TEN_MEGABYTES = 10 * 1_024 * 1_024;
export const HUGE_RESPONSE: Mischief = {
  kind: 'response',
  status: 200,
  body: JSON.stringify({ ok: true, result: { request_id: '1'.repeat(TEN_MEGABYTES) } }),
};

/**
 * A stand-in for the Telegram Gateway, made from its published page: the four methods, one fee for a request, and signed
 * reports that are sent again until they get a 200.
 */
export class TelegramPeer {
  readonly calls: GatewayCall[] = [];
  readonly requests = new Map<string, GatewayRequest>();
  /** How often a fee was taken. */
  fees = 0;
  readonly #clock: { now(): number };
  readonly #server: Server;
  readonly #tokens = new Set<string>();
  readonly #mischief = new Map<string, Mischief>();
  readonly #silent = new Set<ServerResponse>();
  #reports: WaitingReport[] = [];
  #nextId = 1;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  /** Takes the token from now on. */
  allow(token: string): void {
    this.#tokens.add(token);
  }

  /**
   * For every call that is about `subject`; null ends it. A subject is a method, a phone number with its plus, a request id,
   * or a method and a phone number with a space between.
   */
  misbehave(subject: string, mischief: Mischief | null): void {
    if (mischief === null) this.#mischief.delete(subject);
    else this.#mischief.set(subject, mischief);
  }

  /** Ends all mischief. */
  behaveAgain(): void {
    this.#mischief.clear();
  }

  /** Ends the connections of every call of silence. */
  hangUp(): void {
    for (const response of this.#silent) response.destroy();
  }

  /** What was sent to the number, with its plus, the latest last. */
  sentTo(phoneNumber: string): readonly GatewayRequest[] {
    return [...this.requests.values()].filter(
      (request) => request.phoneNumber === phoneNumber && request.message !== null,
    );
  }

  /** How many calls of silence wait for their response. */
  get silences(): number {
    return this.#silent.size;
  }

  /** A report is due: `status` is the new delivery status of the request. */
  report(requestId: string, status: string, more: Readonly<Record<string, unknown>> = {}): void {
    const { phoneNumber, message } = this.#request(requestId);
    if (typeof message?.callback_url !== 'string') return;
    const body = JSON.stringify({
      request_id: requestId,
      phone_number: phoneNumber,
      request_cost: 0.01,
      delivery_status: { status, updated_at: Math.floor(this.#clock.now() / 1_000) },
      ...(message.payload === undefined ? {} : { payload: message.payload }),
      ...more,
    });
    this.#reports.push({ callbackUrl: message.callback_url, body });
  }

  /** Sends every report that waits, signed with `token`; those that get no 200 wait on. Resolves with how many do. */
  async sendReports(token: string): Promise<number> {
    const due = this.#reports;
    this.#reports = [];
    for (const report of due) {
      const { headers, body } = signReport(token, report.body, this.#clock.now());
      const status = await fetch(report.callbackUrl, { method: 'POST', headers, body }).then(
        (response) => response.status,
        () => null,
      );
      if (status !== 200) this.#reports.push(report);
    }
    return this.#reports.length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const method = (request.url ?? '').slice(1);
    const authorization = request.headers.authorization ?? '';
    const parameters = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    this.calls.push({ method, authorization, parameters });
    const { phone_number, request_id } = parameters;
    const mischief = [method, phone_number, request_id, `${method} ${phone_number}`]
      .map((subject) => this.#mischief.get(String(subject)))
      .find((found) => found !== undefined);
    if (mischief !== undefined) {
      this.#misbehave(mischief, request, response);
      return;
    }
    const token = /^Bearer (.+)$/.exec(authorization)?.[1];
    if (token === undefined || !this.#tokens.has(token)) respond(response, failure('ACCESS_TOKEN_INVALID'));
    else respond(response, this.#do(method, parameters));
  }

  #misbehave(mischief: Mischief, request: IncomingMessage, response: ServerResponse): void {
    switch (mischief.kind) {
      case 'error':
        respond(response, failure(mischief.code), mischief.status);
        return;
      case 'response':
        response.writeHead(mischief.status, { 'content-type': mischief.mediaType ?? 'application/json' });
        response.end(mischief.body);
        return;
      case 'result':
        respond(response, { ok: true, result: mischief.result });
        return;
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'silence':
        this.#silent.add(response);
        response.on('close', () => this.#silent.delete(response));
        return;
      default:
        mischief satisfies never;
    }
  }

  #do(method: string, parameters: Readonly<Record<string, unknown>>): object {
    switch (method.toLowerCase()) {
      case 'checksendability':
        return this.#checkSendAbility(parameters);
      case 'sendverificationmessage':
        return this.#send(parameters);
      case 'checkverificationstatus':
        return this.#checkStatus(parameters);
      case 'revokeverificationmessage':
        return this.#revoke(parameters);
      default:
        return failure('UNKNOWN_METHOD');
    }
  }

  #checkSendAbility({ phone_number }: Readonly<Record<string, unknown>>): object {
    if (!isPhoneNumber(phone_number)) return failure('PHONE_NUMBER_INVALID');
    return { ok: true, result: this.#statusOf(this.#charge(phone_number)) };
  }

  #send(parameters: Readonly<Record<string, unknown>>): object {
    const { phone_number, request_id } = parameters;
    if (!isPhoneNumber(phone_number)) return failure('PHONE_NUMBER_INVALID');
    const problem = problemOf(parameters);
    if (problem !== null) return failure(problem);
    const checked = request_id === undefined ? undefined : this.requests.get(String(request_id));
    if (request_id !== undefined && checked === undefined) return failure('REQUEST_ID_INVALID');
    if (checked !== undefined && checked.phoneNumber !== phone_number)
      return failure('PHONE_NUMBER_MISMATCH');
    if (checked !== undefined && checked.message !== null) return failure('MESSAGE_ALREADY_SENT');
    const request = checked ?? this.#charge(phone_number);
    request.message = parameters;
    return { ok: true, result: this.#statusOf(request) };
  }

  #checkStatus({ request_id }: Readonly<Record<string, unknown>>): object {
    const request = this.requests.get(String(request_id));
    return request === undefined
      ? failure('REQUEST_ID_INVALID')
      : { ok: true, result: this.#statusOf(request) };
  }

  #revoke({ request_id }: Readonly<Record<string, unknown>>): object {
    const request = this.requests.get(String(request_id));
    if (request === undefined) return failure('REQUEST_ID_INVALID');
    request.isRevoked = true;
    return { ok: true, result: true };
  }

  #charge(phoneNumber: string): GatewayRequest {
    const requestId = String(1_140_000_000_000 + this.#nextId);
    this.#nextId += 1;
    this.fees += 1;
    const request: GatewayRequest = { requestId, phoneNumber, message: null, isRevoked: false };
    this.requests.set(requestId, request);
    return request;
  }

  #statusOf({ requestId, phoneNumber, message }: GatewayRequest): object {
    const updatedAt = Math.floor(this.#clock.now() / 1_000);
    return {
      request_id: requestId,
      phone_number: phoneNumber,
      request_cost: 0.01,
      remaining_balance: 9.99,
      ...(message === null ? {} : { delivery_status: { status: 'sent', updated_at: updatedAt } }),
      ...(message?.payload === undefined ? {} : { payload: message.payload }),
    };
  }

  #request(requestId: string): GatewayRequest {
    const request = this.requests.get(requestId);
    if (request === undefined) throw new Error(`There is no request ${requestId}`);
    return request;
  }
}

/** The headers of a report that Telegram sends at `now` (milliseconds since 1970), as its page describes them. */
export function signReport(token: string, body: string, now: number): SignedReport {
  const timestamp = String(Math.floor(now / 1_000));
  const key = createHash('sha256').update(token).digest();
  const signature = createHmac('sha256', key).update(`${timestamp}\n${body}`).digest('hex');
  return {
    headers: {
      'content-type': 'application/json',
      'x-request-timestamp': timestamp,
      'x-request-signature': signature,
    },
    body,
  };
}

function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && /^\+[1-9][0-9]{6,14}$/.test(value);
}

/** The code of the first parameter that the published limits do not allow. */
function problemOf({ code, ttl, payload, callback_url }: Readonly<Record<string, unknown>>): string | null {
  if (typeof code !== 'string' || !/^[0-9]{4,8}$/.test(code)) return 'CODE_INVALID';
  if (ttl !== undefined && !(Number.isInteger(ttl) && Number(ttl) >= 30 && Number(ttl) <= 3_600)) {
    return 'TTL_INVALID';
  }
  if (payload !== undefined && Buffer.byteLength(String(payload)) > 128) return 'PAYLOAD_INVALID';
  if (callback_url !== undefined && Buffer.byteLength(String(callback_url)) > 256) {
    return 'CALLBACK_URL_INVALID';
  }
  return null;
}

function failure(error: unknown): object {
  return { ok: false, error };
}

function respond(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
