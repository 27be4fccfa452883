import type { WebhookRequest, WebhookTransport } from '../../../application/ports/webhook-transport.ts';
import { remembered } from '../../../application/remembered.ts';
import { DELIVERY_ATTEMPT_TIMEOUT_MS } from '../../../application/webhooks/delivery-limits.ts';
import type { DeliveryResult } from '../../../domain/webhooks/delivery-result.ts';
import { type LookupAll, nameLookup } from '../name-lookup.ts';
import { RESPONSE_BYTES_MAX } from '../tls/peer-stream.ts';
import { PeerTime, RECEIVER_SHARES } from '../tls/peer-time.ts';
import { guardedConnectors } from './egress-guard.ts';
import { type EgressRules, egressRules } from './egress-rules.ts';
import { ReceiverConnections } from './receiver-connections.ts';
import { WebhookExchange } from './webhook-exchange.ts';
import { HTTPS_PORT, parseWebhookUrl } from './webhook-url.ts';

export interface UndiciWebhookTransportOptions {
  /** Networks that are connected to although they are not public, in CIDR notation; none by default. */
  readonly allowedNetworks?: readonly string[];
  /** 443 alone by default. */
  readonly allowedPorts?: readonly number[];
  /** The deadline of one request, in milliseconds. */
  readonly timeoutMs?: number;
  /** Trusted instead of the system's certificate authorities, in PEM. */
  readonly ca?: string;
  /** Asked for the addresses of a name; by default hosts file and DNS. */
  readonly lookup?: LookupAll;
}

/** A url as a request is sent to it. */
interface Target {
  readonly origin: string;
  readonly path: string;
}

const USER_AGENT = 'Barid-Webhooks/1.0';

/** Most requests go to urls that were used before. */
const TARGETS_KEPT_MAX = 1_000;
const KEEP_ALIVE_MS = 4_000;
/** A receiver may offer more; a new connection now and then finds out that its address has changed. */
const KEEP_ALIVE_MS_MAX = 60_000;

/** Sends webhooks over keep-alive connections that all went through the egress guard. Limits no concurrency itself. */
export class UndiciWebhookTransport implements WebhookTransport {
  readonly #rules: EgressRules;
  readonly #ports: ReadonlySet<number>;
  readonly #timeoutMs: number;
  readonly #peerTime = new PeerTime(RECEIVER_SHARES);
  readonly #connections: ReceiverConnections;
  /** By the rules alone, which do not change; what a name leads to is checked on every connection. */
  readonly #target = remembered(TARGETS_KEPT_MAX, (url: string) => this.#targetOf(url));
  readonly #inFlight = new Set<Promise<DeliveryResult>>();
  #isClosed = false;

  /** Throws when an allowed network is malformed or would switch the guard off. */
  constructor(options: UndiciWebhookTransportOptions = {}) {
    this.#rules = egressRules(options.allowedNetworks ?? []);
    this.#ports = new Set(options.allowedPorts ?? [HTTPS_PORT]);
    this.#timeoutMs = options.timeoutMs ?? DELIVERY_ATTEMPT_TIMEOUT_MS;
    this.#connections = new ReceiverConnections(
      {
        // Above 1 the next request is sent while what follows a response is unread, and may be taken for its response.
        pipelining: 1,
        keepAliveTimeout: KEEP_ALIVE_MS,
        keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
        // No limit of its own: beyond that undici goes on, and makes an error for each line that follows.
        maxHeaderSize: RESPONSE_BYTES_MAX,
        // These two only measure silence; the deadline of the exchange measures all of it.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      guardedConnectors({
        rules: this.#rules,
        lookup: options.lookup ?? nameLookup(),
        peerTime: this.#peerTime,
        timeoutMs: this.#timeoutMs,
        ca: options.ca ?? null,
      }),
    );
  }

  send(request: WebhookRequest): Promise<DeliveryResult> {
    const target = this.#target(request.url);
    if (target === null) return Promise.resolve({ kind: 'failed', reason: 'address-refused' });
    if (this.#isClosed) return Promise.resolve({ kind: 'failed', reason: 'connection' });
    const exchange = new Promise<DeliveryResult>((resolve) => {
      // Named one by one: undici reads the properties of a spread object several times slower.
      const sent = {
        origin: target.origin,
        path: target.path,
        method: 'POST',
        headers: headerList(request),
        body: request.body,
        // Blocking, undici would search for the next request at the head of every response.
        blocking: false,
      } as const;
      new WebhookExchange(sent, this.#connections, request.projectId, this.#timeoutMs, resolve);
    });
    this.#inFlight.add(exchange);
    void exchange.then(() => this.#inFlight.delete(exchange));
    return exchange;
  }

  acceptUrl(url: string): string | null {
    return parseWebhookUrl(url, this.#rules, this.#ports)?.href ?? null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#inFlight);
    await this.#connections.close();
    this.#peerTime.close();
  }

  #targetOf(text: string): Target | null {
    const url = parseWebhookUrl(text, this.#rules, this.#ports);
    return url === null ? null : { origin: url.origin, path: `${url.pathname}${url.search}` };
  }
}

/** Names and values in turn, as undici takes them fastest. */
function headerList({ headers }: WebhookRequest): string[] {
  const list = ['User-Agent', USER_AGENT];
  for (const name in headers) list.push(name, headers[name] as string);
  return list;
}
