import { hostOf } from '../../domain/webhooks/endpoint.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { WebhookDestination } from '../jobs/webhook-jobs.ts';
import type { DeliveryLimits } from './delivery-limits.ts';

/** The attempts in flight under one limit, and the queues that wait for one of them to end. */
interface Limit {
  readonly key: string;
  readonly max: number;
  inFlight: number;
  queues: number;
  /** The queue that has waited longest comes first. */
  readonly waiting: Set<AttemptQueue>;
}

type AttemptMaxima = Pick<
  DeliveryLimits,
  'attemptsPerEndpoint' | 'attemptsPerHost' | 'attemptsPerProject' | 'attempts'
>;

/**
 * Limits the attempts in flight per endpoint, host, project and process. It is the only place that does, so that a
 * receiver that hangs holds up nobody but itself, and no project uses up everything.
 */
export class AttemptLimiter {
  readonly #maxima: AttemptMaxima;
  readonly #limits = new Map<string, Limit>();

  constructor(maxima: AttemptMaxima) {
    this.#maxima = maxima;
  }

  /** A queue of events for one destination; `begin` is called for each, while `mayBegin`, as soon as no limit is reached. */
  open(
    { projectId, endpoint }: WebhookDestination,
    mayBegin: () => boolean,
    begin: (event: WebhookEvent) => void,
  ): AttemptQueue {
    const { attemptsPerEndpoint, attemptsPerHost, attemptsPerProject, attempts } = this.#maxima;
    const limits = [
      this.#limit(`endpoint ${endpoint}`, attemptsPerEndpoint),
      this.#limit(`host ${hostOf(endpoint)}`, attemptsPerHost),
      this.#limit(`project ${projectId}`, attemptsPerProject),
      this.#limit('all', attempts),
    ];
    return new AttemptQueue(limits, mayBegin, begin);
  }

  /** Ends the use of a queue that is empty. */
  close(queue: AttemptQueue): void {
    for (const limit of queue.limits) {
      limit.waiting.delete(queue);
      limit.queues -= 1;
      if (limit.queues === 0) this.#limits.delete(limit.key);
    }
  }

  #limit(key: string, max: number): Limit {
    const limit = this.#limits.get(key) ?? { key, max, inFlight: 0, queues: 0, waiting: new Set() };
    limit.queues += 1;
    this.#limits.set(key, limit);
    return limit;
  }
}

/** The events of one destination that wait to be attempted, in their order, and those in flight. */
export class AttemptQueue {
  readonly limits: readonly Limit[];
  readonly #mayBegin: () => boolean;
  readonly #begin: (event: WebhookEvent) => void;
  readonly #waiting: WebhookEvent[] = [];
  #inFlight = 0;

  constructor(limits: readonly Limit[], mayBegin: () => boolean, begin: (event: WebhookEvent) => void) {
    this.limits = limits;
    this.#mayBegin = mayBegin;
    this.#begin = begin;
  }

  /** How many events wait or are in flight. */
  get size(): number {
    return this.#waiting.length + this.#inFlight;
  }

  add(events: readonly WebhookEvent[]): void {
    this.#waiting.push(...events);
    this.resume();
  }

  /** Begins what may begin by now. At the first limit that is reached, the queue waits until an attempt ends. */
  resume(): void {
    while (this.#waiting.length > 0 && this.#mayBegin()) {
      const reached = this.limits.find(({ inFlight, max }) => inFlight >= max);
      if (reached !== undefined) {
        reached.waiting.add(this);
        return;
      }
      for (const limit of this.limits) limit.inFlight += 1;
      this.#inFlight += 1;
      this.#begin(this.#waiting.shift() as WebhookEvent);
    }
  }

  /** An attempt has ended. The queues that wait for its place come first, one after the other. */
  ended(): void {
    this.#inFlight -= 1;
    for (const limit of this.limits) limit.inFlight -= 1;
    for (const limit of this.limits) {
      for (const queue of limit.waiting) {
        if (limit.inFlight >= limit.max) break;
        limit.waiting.delete(queue);
        queue.resume();
      }
    }
    this.resume();
  }

  /** Removes and returns the events that were not begun. */
  drop(): readonly WebhookEvent[] {
    return this.#waiting.splice(0);
  }
}
