import { setImmediate } from 'node:timers';
import { Client } from 'undici';
import {
  POSTS_PER_ENDPOINT_MAX,
  POSTS_PER_ORIGIN_MAX,
  WEBHOOK_TIMEOUT_MS,
  type WebhookAnswer,
  type WebhookPost,
  type WebhookTransport,
} from '../../application/ports/webhook-transport.ts';
import { endpointOf } from '../../domain/webhooks/circuit-breaker.ts';
import { Connections } from './connections.ts';
import { guardedConnector, type LookupAll } from './egress-guard.ts';
import { type EgressRules, egressRules } from './egress-rules.ts';
import { nameLookup } from './name-lookup.ts';
import { BUSY, Posting, type PostingResources, type Target } from './posting.ts';
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
  /** Asked for the addresses of a name; by default hosts file and DNS. */
  readonly lookup?: LookupAll;
}

interface Answered {
  readonly answer: WebhookAnswer;
  readonly resolve: (answer: WebhookAnswer) => void;
}

/** A post that waited so long did not take place, and is tried again a little later. */
export const QUEUE_MS_MAX = 10_000;
const ANSWER_HEADER_BYTES_MAX = 16_384;

/** Most posts go to urls that were posted to before. */
const TARGETS_KEPT_MAX = 1_000;
const KEEP_ALIVE_MS = 4_000;
/** A receiver may offer more; a new connection now and then finds out that its address has changed. */
const KEEP_ALIVE_MS_MAX = 60_000;

/** Posts webhooks over pooled keep-alive connections that all went through the egress guard. */
export class UndiciWebhookTransport implements WebhookTransport {
  readonly #rules: EgressRules;
  readonly #ports: ReadonlySet<number>;
  readonly #resources: PostingResources;
  readonly #targets = new Map<string, Target | null>();
  /** Those of this turn of the event loop. */
  readonly #answered: Answered[] = [];
  readonly #whenIdle: (() => void)[] = [];
  #postsInFlight = 0;
  #isClosed = false;

  /** Throws when an allowed network is malformed or would switch the guard off. */
  constructor(options: UndiciWebhookTransportOptions = {}) {
    this.#rules = egressRules(options.allowedNetworks ?? []);
    this.#ports = new Set(options.allowedPorts ?? [HTTPS_PORT]);
    const timeoutMs = options.timeoutMs ?? WEBHOOK_TIMEOUT_MS;
    const queueMs = options.queueMs ?? QUEUE_MS_MAX;
    const clientOptions = {
      connect: guardedConnector({
        rules: this.#rules,
        lookup: options.lookup ?? nameLookup(),
        timeoutMs,
        ca: options.ca ?? null,
      }),
      // Above 1 the next post is sent while what follows an answer is still unread, and may be taken for its answer.
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
      maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
      // These two only measure silence; the deadline of the exchange measures all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#resources = {
      endpointSlots: new PostingSlots(POSTS_PER_ENDPOINT_MAX, queueMs),
      originSlots: new PostingSlots(POSTS_PER_ORIGIN_MAX, queueMs),
      connections: new Connections((origin) => new Client(origin, clientOptions)),
      timeoutMs,
    };
  }

  post(post: WebhookPost): Promise<WebhookAnswer> {
    return new Promise((resolve) => {
      const target = this.#target(post.url);
      if (target === null) return resolve({ kind: 'failed', reason: 'address-refused', durationMs: 0 });
      if (this.#isClosed) return resolve(BUSY);
      this.#postsInFlight += 1;
      new Posting(this.#resources, target, post, (answer) => this.#handOver({ resolve, answer })).begin();
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

  /** At the end of the turn, all together: what is done with each would be in the way of the posts. */
  #handOver(answered: Answered): void {
    if (this.#answered.push(answered) > 1) return;
    setImmediate(() => {
      const all = this.#answered.splice(0);
      for (const { resolve, answer } of all) resolve(answer);
      this.#postsInFlight -= all.length;
      if (this.#postsInFlight === 0) for (const proceed of this.#whenIdle.splice(0)) proceed();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#postsInFlight > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    await this.#resources.connections.destroy();
  }
}

function targetOf(url: URL | null): Target | null {
  if (url === null) return null;
  const { origin, pathname, search, href } = url;
  return { origin, path: `${pathname}${search}`, endpoint: endpointOf(href) };
}
