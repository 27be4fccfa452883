import type { Client } from 'undici';
import type { WebhookAnswer, WebhookPost } from '../../application/ports/webhook-transport.ts';
import type { Connections } from './connections.ts';
import { Exchange, type Exchanging } from './exchange.ts';
import type { InLine, PostingSlots } from './posting-slots.ts';

/** A url as it is posted to. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  /** What posts are counted by: host and path. */
  readonly endpoint: string;
}

/** What all posts share. */
export interface PostingResources {
  readonly endpointSlots: PostingSlots;
  readonly originSlots: PostingSlots;
  readonly connections: Connections;
  /** The deadline of one post, in milliseconds. */
  readonly timeoutMs: number;
}

/** Nothing was sent. */
export const BUSY: WebhookAnswer = { kind: 'failed', reason: 'busy', durationMs: 0 };

const USER_AGENT = 'Barid-Webhooks/1.0';

/**
 * One post: in line for its endpoint, then for its origin, then on a connection. A receiver may close a connection it
 * has answered on in the moment in which it is used again. So a post that failed on one that was in use is made once
 * more on a new one, within the same deadline. One object for all of it, and no functions made for each post:
 * thousands of them a second.
 */
export class Posting implements InLine, Exchanging {
  readonly #resources: PostingResources;
  readonly #target: Target;
  readonly #post: WebhookPost;
  readonly #settle: (answer: WebhookAnswer) => void;
  /** First that of the endpoint, then that of the origin. */
  #slotsTaken = 0;
  #isRepeatable = false;
  /** Of the exchange before this one. */
  #spentMs = 0;

  /** `settle` is called exactly once, when all that was taken is given back. */
  constructor(
    resources: PostingResources,
    target: Target,
    post: WebhookPost,
    settle: (answer: WebhookAnswer) => void,
  ) {
    this.#resources = resources;
    this.#target = target;
    this.#post = post;
    this.#settle = settle;
  }

  begin(): void {
    this.#resources.endpointSlots.take(this.#target.endpoint, this);
  }

  proceed(isTaken: boolean): void {
    const { originSlots, connections } = this.#resources;
    const { origin } = this.#target;
    if (!isTaken) {
      this.#end(BUSY);
      return;
    }
    this.#slotsTaken += 1;
    if (this.#slotsTaken === 1) {
      originSlots.take(origin, this);
      return;
    }
    const used = connections.takeUsed(origin);
    this.#isRepeatable = used !== null;
    this.#exchangeOn(used ?? connections.open(origin));
  }

  exchanged(client: Client, answer: WebhookAnswer, isInOrder: boolean): void {
    const { connections, timeoutMs } = this.#resources;
    const { origin } = this.#target;
    if (isInOrder) connections.give(origin, client);
    else connections.drop(client);
    const durationMs = this.#spentMs + answer.durationMs;
    const isBroken = answer.kind === 'failed' && answer.reason === 'connection';
    if (this.#isRepeatable && isBroken && durationMs < timeoutMs) {
      this.#isRepeatable = false;
      this.#spentMs = durationMs;
      this.#exchangeOn(connections.open(origin));
    } else {
      this.#end(this.#spentMs === 0 ? answer : { ...answer, durationMs });
    }
  }

  #exchangeOn(client: Client): void {
    const { origin, path } = this.#target;
    const { body } = this.#post;
    // Blocking, undici would look for the next request at the head of every answer.
    const request = {
      origin,
      path,
      method: 'POST',
      headers: this.#headers(),
      body,
      blocking: false,
    } as const;
    new Exchange(client, this.#resources.timeoutMs - this.#spentMs, this).begin(request);
  }

  /** Names and values in turn, as undici takes them fastest. */
  #headers(): string[] {
    const list = ['User-Agent', USER_AGENT];
    const { headers } = this.#post;
    for (const name in headers) list.push(name, headers[name] as string);
    return list;
  }

  /** What waits is begun here, while the connection that was given back is still warm. */
  #end(answer: WebhookAnswer): void {
    const { endpointSlots, originSlots } = this.#resources;
    const { endpoint, origin } = this.#target;
    if (this.#slotsTaken === 2) originSlots.give(origin);
    if (this.#slotsTaken > 0) endpointSlots.give(endpoint);
    this.#settle(answer);
  }
}
