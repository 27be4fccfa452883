import type { WebhookDestination } from '../../domain/webhooks/destination.ts';
import { hostOf } from '../../domain/webhooks/endpoint.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { DeliveryLimits } from './delivery-limits.ts';
import { FairLimit } from './fair-limit.ts';

/** A limit, and how many queues use it. */
interface UsedLimit {
  readonly key: string;
  readonly attempts: FairLimit<AttemptQueue>;
  queues: number;
}

type AttemptMaxima = Pick<
  DeliveryLimits,
  'attemptsPerEndpoint' | 'attemptsPerHost' | 'attemptsPerProject' | 'attempts'
>;

/**
 * Limits the attempts in flight per endpoint, host, project and process. Nothing else limits them. So a receiver that hangs holds
 * up nobody but itself, and no project uses up everything. Projects share hosts and the process.
 */
export class DeliveryLimiter {
  readonly #maxima: AttemptMaxima;
  readonly #limits = new Map<string, UsedLimit>();

  constructor(maxima: AttemptMaxima) {
    this.#maxima = maxima;
  }

  /**
   * Opens a queue of events for one destination. While `mayBegin()` is true, it calls `begin` for each when no limit is reached.
   */
  open(
    { projectId, endpoint }: WebhookDestination,
    mayBegin: () => boolean,
    begin: (event: WebhookEvent) => void,
  ): AttemptQueue {
    const { attemptsPerEndpoint, attemptsPerHost, attemptsPerProject, attempts } = this.#maxima;
    const limits = [
      this.#limit(`endpoint ${endpoint}`, attemptsPerEndpoint),
      this.#limit(`host ${hostOf(endpoint)}`, attemptsPerHost, { isShared: true }),
      this.#limit(`project ${projectId}`, attemptsPerProject),
      this.#limit('all', attempts, { isShared: true }),
    ];
    return new AttemptQueue(projectId, limits, mayBegin, begin);
  }

  /** Ends the use of a queue that is empty. */
  close(queue: AttemptQueue): void {
    for (const limit of queue.limits) {
      limit.attempts.leave(queue);
      limit.queues -= 1;
      if (limit.queues === 0) this.#limits.delete(limit.key);
    }
  }

  #limit(key: string, max: number, sharing = { isShared: false }): UsedLimit {
    const limit = this.#limits.get(key) ?? { key, attempts: new FairLimit(max, sharing), queues: 0 };
    limit.queues += 1;
    this.#limits.set(key, limit);
    return limit;
  }
}

/** The events of one destination that wait to be attempted, in their order, and those in flight. */
export class AttemptQueue {
  readonly projectId: string;
  readonly limits: readonly UsedLimit[];
  readonly #mayBegin: () => boolean;
  readonly #begin: (event: WebhookEvent) => void;
  readonly #waiting: WebhookEvent[] = [];
  #inFlight = 0;

  constructor(
    projectId: string,
    limits: readonly UsedLimit[],
    mayBegin: () => boolean,
    begin: (event: WebhookEvent) => void,
  ) {
    this.projectId = projectId;
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

  /** Begins the events that may begin by now. At the first limit that is reached, the queue waits until an attempt ends. */
  resume(): void {
    while (this.#waiting.length > 0 && this.#mayBegin()) {
      const reached = this.limits.find(({ attempts }) => !attempts.mayBegin(this.projectId));
      if (reached !== undefined) {
        reached.attempts.wait(this.projectId, this);
        return;
      }
      for (const { attempts } of this.limits) attempts.begin(this.projectId);
      this.#inFlight += 1;
      this.#begin(this.#waiting.shift() as WebhookEvent);
    }
  }

  /** An attempt has ended. The queues that wait for its place come first, one after the other. */
  ended(): void {
    this.#inFlight -= 1;
    for (const { attempts } of this.limits) attempts.end(this.projectId);
    for (const { attempts } of this.limits) {
      for (let queue = attempts.next(); queue !== null; queue = attempts.next()) queue.resume();
    }
    this.resume();
  }

  /** Removes and returns the events that were not begun. */
  drop(): readonly WebhookEvent[] {
    return this.#waiting.splice(0);
  }
}
