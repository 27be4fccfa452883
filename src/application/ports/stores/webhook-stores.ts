import type { CircuitBreaker } from '../../../domain/shared/circuit-breaker.ts';
import type { WebhookDestination } from '../../../domain/webhooks/destination.ts';
import type { InboundWebhook } from '../../../domain/webhooks/inbound-webhook.ts';
import type { WebhookEvent } from '../../../domain/webhooks/webhook-event.ts';

/** The place of an event in the order of due times and ids. */
export interface DuePlace {
  readonly nextAttemptAt: number;
  readonly id: string;
}

export interface DueEventsQuery extends WebhookDestination {
  /** Milliseconds since 1970, inclusive. */
  readonly now: number;
  /** Only events behind this one; null for all. */
  readonly after: DuePlace | null;
  readonly limit: number;
}

/** A whatsapp number, by our 24-hex id, and the project whose events are meant. */
export interface NumberOfProject {
  readonly projectId: string;
  readonly whatsappPhoneId: string;
}

export interface WebhookEventStore {
  /**
   * Fails the unit on an id that exists. Of a message that came in only the first event is kept: channel providers repeat
   * themselves.
   */
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
  /** As `save`, and writes address and secret, too. */
  saveWithAddress(events: readonly WebhookEvent[]): Promise<readonly WebhookEvent[]>;
  /**
   * The open events of the number with ids greater than `after`, in the order of their ids, at most `limit`, locked until the
   * transaction ends.
   */
  lockOpenOfNumber(number: NumberOfProject, after: string, limit: number): Promise<readonly WebhookEvent[]>;
  /** The events of a project with ids greater than `after` and up to `last`, in the order of their ids, at most `limit`. */
  ofProject(
    projectId: string,
    range: { readonly after: string; readonly last: string },
    limit: number,
  ): Promise<readonly WebhookEvent[]>;
  /** The id of the event that comes `count` events behind `after`, of all projects; null when there are fewer. */
  idBehind(after: string, count: number): Promise<string | null>;
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
  /** How many of up to `limit` breakers, the latest used first, are open or half-open. */
  countOpen(limit: number): Promise<number>;
}

export interface InboundWebhookStore {
  /** Fails the unit on a number that has a configuration. */
  insert(webhooks: readonly InboundWebhook[]): Promise<void>;
  /** Adds or replaces the configuration of the numbers. */
  save(webhooks: readonly InboundWebhook[]): Promise<void>;
  /** The configuration of those of the numbers that have one, in the order of our 24-hex ids. */
  byWhatsappPhoneIds(ids: readonly string[]): Promise<readonly InboundWebhook[]>;
  /** As `byWhatsappPhoneIds`, locked until the transaction ends. */
  lock(ids: readonly string[]): Promise<readonly InboundWebhook[]>;
  /** As `byWhatsappPhoneIds`. Until the transaction ends nobody changes or removes them; others may lock them so as well. */
  lockShared(ids: readonly string[]): Promise<readonly InboundWebhook[]>;
  /** Up to `limit` of the project in the order of their numbers, those after `after` when it is given. */
  ofProject(projectId: string, after: string | null, limit: number): Promise<readonly InboundWebhook[]>;
  /** Removes the configuration of the numbers. */
  remove(ids: readonly string[]): Promise<void>;
}
