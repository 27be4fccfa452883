import type { CircuitBreaker } from '../../domain/shared/circuit-breaker.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { WebhookDestination } from '../jobs/webhook-jobs.ts';

/** The place of an event in the order of due times and ids. */
export interface DuePosition {
  readonly nextAttemptAt: number;
  readonly id: string;
}

export interface DueEventsQuery extends WebhookDestination {
  /** Milliseconds since 1970, inclusive. */
  readonly now: number;
  /** Only events behind this one; null for all. */
  readonly after: DuePosition | null;
  readonly limit: number;
}

export interface WebhookEventStore {
  /** Fails the unit on an id that exists. Of a message that came in only the first event is kept: channel providers repeat themselves. */
  insert(events: readonly WebhookEvent[]): Promise<void>;
  /** For each query, the events of the destination that are due, the longest due first, without a lock. */
  due(queries: readonly DueEventsQuery[]): Promise<readonly (readonly WebhookEvent[])[]>;
  /** For each destination, the instant its next event is due, or null when none is. */
  nextDueAt(destinations: readonly WebhookDestination[]): Promise<readonly (number | null)[]>;
  /** The open events of the ordering keys, in the order of their ids, locked until the transaction ends. */
  lockOpen(orderingKeys: readonly string[]): Promise<readonly WebhookEvent[]>;
  /** The events that exist, in the order of their ids, locked until the transaction ends. */
  lock(ids: readonly string[]): Promise<readonly WebhookEvent[]>;
  /**
   * Writes what an attempt can change: state, attempts, times, last error. Of events that are as they were read only;
   * returns those, in the given order, with their new version.
   */
  save(events: readonly WebhookEvent[]): Promise<readonly WebhookEvent[]>;
  /** The events of a whatsapp number made after `since`, the newest first, at most `limit`. */
  ofPhoneNumber(phoneNumberId: string, since: number, limit: number): Promise<readonly WebhookEvent[]>;
  /** Removes up to `limit` events made before `before` that are not open, and says how many. */
  sweep(before: number, limit: number): Promise<number>;
}

/** The circuit breakers of destinations, by `destinationKey`. */
export interface CircuitBreakerStore {
  /** Without a lock; a destination without a breaker is missing. */
  read(destinationKeys: readonly string[]): Promise<ReadonlyMap<string, CircuitBreaker>>;
  /**
   * The breakers of all of them, locked in the order of the keys until the transaction ends. A missing one is inserted
   * closed; for each of those, up to two others without attempts for a day before `at` are removed.
   */
  lock(destinationKeys: readonly string[], at: number): Promise<ReadonlyMap<string, CircuitBreaker>>;
  /** Writes locked breakers, after attempts at `at`. */
  save(breakers: ReadonlyMap<string, CircuitBreaker>, at: number): Promise<void>;
}

/** Where the inbound messages of a whatsapp number go (specification 6.2). */
export interface InboundWebhook {
  /** Our 24-hex id of the number. */
  readonly phoneNumberId: string;
  readonly projectId: string;
  readonly url: string;
  /** As the secret box sealed it. */
  readonly secret: string;
}

export interface InboundWebhookStore {
  /** Adds or replaces the configuration of the numbers. */
  save(webhooks: readonly InboundWebhook[]): Promise<void>;
  /** The configuration of those of the numbers that have one, in the order of our 24-hex ids. */
  byPhoneNumberIds(ids: readonly string[]): Promise<readonly InboundWebhook[]>;
}
