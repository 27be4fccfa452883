import { lookup as systemLookup } from 'node:dns';
import { Client } from 'undici';
import {
  WEBHOOK_TIMEOUT_MS,
  type WebhookAnswer,
  type WebhookPost,
  type WebhookTransport,
} from '../../application/ports/webhook-transport.ts';
import { Connections } from './connections.ts';
import { guardedConnector, type LookupAll } from './egress-guard.ts';
import { type EgressRules, egressRules } from './egress-rules.ts';
import { Exchange } from './exchange.ts';
import { PostingSlots } from './posting-slots.ts';
import { HTTPS_PORT, parseWebhookUrl } from './webhook-url.ts';

export interface UndiciWebhookTransportOptions {
  /** Networks that are posted to although they are not public, in CIDR notation; none by default. */
  readonly allowedNetworks?: readonly string[];
  /** 443 alone by default. */
  readonly allowedPorts?: readonly number[];
  /** The deadline of one post, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long a post waits for others to the same receiver, in milliseconds. */
  readonly queueMs?: number;
  /** Trusted instead of the system's certificate authorities, in PEM. */
  readonly ca?: string;
  readonly lookup?: LookupAll;
}

/** A url as it is posted to. */
interface Target {
  readonly origin: string;
  readonly path: string;
  /** What posts are counted by: host and path. */
  readonly endpoint: string;
}

type Settle = (answer: WebhookAnswer) => void;

const BUSY: WebhookAnswer = { kind: 'failed', reason: 'busy', durationMs: 0 };

/** Enough for the throughput of a fast receiver, and all that a hanging one can hold. */
export const POSTS_PER_ENDPOINT_MAX = 50;
/** A host that serves many customers gets more, and one of their paths cannot use it up. */
export const POSTS_PER_ORIGIN_MAX = 200;
/** A post that waited so long did not take place, and is tried again a little later. */
export const QUEUE_MS_MAX = 10_000;
export const ANSWER_HEADER_BYTES_MAX = 16_384;

/** Most posts go to urls that were posted to before. */
const TARGETS_KEPT_MAX = 1_000;
const KEEP_ALIVE_MS = 4_000;
/** A receiver may offer more; a new connection now and then finds out that its address has changed. */
const KEEP_ALIVE_MS_MAX = 60_000;
const USER_AGENT = 'Barid-Webhooks/1.0';

/** Posts webhooks over pooled keep-alive connections that all went through the egress guard. */
export class UndiciWebhookTransport implements WebhookTransport {
  readonly #rules: EgressRules;
  readonly #ports: ReadonlySet<number>;
  readonly #timeoutMs: number;
  readonly #connections: Connections;
  readonly #endpointSlots: PostingSlots;
  readonly #originSlots: PostingSlots;
  readonly #targets = new Map<string, Target | null>();
  readonly #whenIdle: (() => void)[] = [];
  #postsInFlight = 0;
  #isClosed = false;

  /** Throws when an allowed network is malformed or would switch the guard off. */
  constructor(options: UndiciWebhookTransportOptions = {}) {
    this.#rules = egressRules(options.allowedNetworks ?? []);
    this.#ports = new Set(options.allowedPorts ?? [HTTPS_PORT]);
    const timeoutMs = options.timeoutMs ?? WEBHOOK_TIMEOUT_MS;
    this.#timeoutMs = timeoutMs;
    const queueMs = options.queueMs ?? QUEUE_MS_MAX;
    this.#endpointSlots = new PostingSlots(POSTS_PER_ENDPOINT_MAX, queueMs);
    this.#originSlots = new PostingSlots(POSTS_PER_ORIGIN_MAX, queueMs);
    const clientOptions = {
      connect: guardedConnector({
        rules: this.#rules,
        lookup: options.lookup ?? systemLookup,
        timeoutMs,
        ca: options.ca ?? null,
      }),
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
      maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
      // These two only measure silence; the deadline of the exchange measures all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#connections = new Connections((origin) => new Client(origin, clientOptions));
  }

  post(post: WebhookPost): Promise<WebhookAnswer> {
    return new Promise((resolve) => {
      const target = this.#target(post.url);
      if (target === null) return resolve({ kind: 'failed', reason: 'address-refused', durationMs: 0 });
      if (this.#isClosed) return resolve(BUSY);
      this.#postsInFlight += 1;
      this.#postInTurn(target, post, (answer) => {
        resolve(answer);
        this.#postsInFlight -= 1;
        if (this.#postsInFlight === 0) for (const proceed of this.#whenIdle.splice(0)) proceed();
      });
    });
  }

  acceptUrl(url: string): string | null {
    return parseWebhookUrl(url, this.#rules, this.#ports)?.href ?? null;
  }

  /** By the rules alone, which do not change; what a name leads to is asked by every connection. */
  #target(text: string): Target | null {
    let target = this.#targets.get(text);
    if (target === undefined) {
      target = targetOf(parseWebhookUrl(text, this.#rules, this.#ports));
      if (this.#targets.size >= TARGETS_KEPT_MAX) this.#targets.clear();
      this.#targets.set(text, target);
    }
    return target;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#postsInFlight > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    await this.#connections.destroy();
  }

  #postInTurn(target: Target, post: WebhookPost, settle: Settle): void {
    const { endpoint, origin } = target;
    this.#endpointSlots.take(endpoint, (isTaken) => {
      if (!isTaken) return settle(BUSY);
      const settleEndpoint: Settle = (answer) => {
        this.#endpointSlots.give(endpoint);
        settle(answer);
      };
      this.#originSlots.take(origin, (isTakenToo) => {
        if (!isTakenToo) return settleEndpoint(BUSY);
        this.#exchange(target, post, (answer) => {
          this.#originSlots.give(origin);
          settleEndpoint(answer);
        });
      });
    });
  }

  /**
   * A receiver may close a connection it has answered on in the moment in which it is used again. It says nothing then,
   * and gets the post once more on a new connection, within the same deadline.
   */
  #exchange(target: Target, post: WebhookPost, settle: Settle): void {
    const used = this.#connections.takeUsed(target.origin);
    if (used === null) {
      this.#exchangeOn(this.#connections.open(target.origin), target, post, this.#timeoutMs, settle);
      return;
    }
    this.#exchangeOn(used, target, post, this.#timeoutMs, (answer) => {
      const timeLeftMs = this.#timeoutMs - answer.durationMs;
      if (answer.kind === 'answered' || answer.reason !== 'connection' || timeLeftMs <= 0) {
        settle(answer);
        return;
      }
      this.#exchangeOn(this.#connections.open(target.origin), target, post, timeLeftMs, (second) =>
        settle({ ...second, durationMs: answer.durationMs + second.durationMs }),
      );
    });
  }

  #exchangeOn(client: Client, target: Target, post: WebhookPost, timeoutMs: number, settle: Settle): void {
    const { origin, path } = target;
    const exchange = new Exchange(timeoutMs, (answer, isInOrder) => {
      if (isInOrder) this.#connections.give(origin, client);
      else this.#connections.drop(client);
      settle(answer);
    });
    try {
      const headers = { 'User-Agent': USER_AGENT, ...post.headers };
      client.dispatch({ origin, path, method: 'POST', headers, body: post.body }, exchange);
    } catch (error) {
      exchange.onResponseError(null, error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function targetOf(url: URL | null): Target | null {
  if (url === null) return null;
  const { origin, pathname, search } = url;
  return { origin, path: `${pathname}${search}`, endpoint: `${origin}${pathname}` };
}
