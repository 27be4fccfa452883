import type { CircuitBreaker } from '../../../domain/shared/circuit-breaker.ts';
import type { WebhookDestination } from '../../../domain/webhooks/destination.ts';
import type { WebhookEvent } from '../../../domain/webhooks/webhook-event.ts';

/** What a log shows of an event: neither its secret nor the whole url. */
export type LoggedEvent = Omit<WebhookEvent, 'secret' | 'url' | 'body' | 'version'>;

/** A place in the log, the newest event first. */
export type EventPlace = Pick<LoggedEvent, 'createdAt' | 'id'>;

export interface LogQuery {
  /** Only the events of a whatsapp number; null for all. */
  readonly whatsappPhoneId: string | null;
  /** Milliseconds since 1970, both included. */
  readonly from: number;
  readonly to: number;
  readonly after: EventPlace | null;
  readonly limit: number;
}

/** A destination and its circuit. */
export interface DestinationCircuit extends WebhookDestination {
  readonly breaker: CircuitBreaker;
}

/** Webhook events and circuits as operators read them. Every read follows an index and ends after `limit` rows. */
export interface WebhookLogStore {
  /** The events that exist, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly LoggedEvent[]>;
  /** The newest first. */
  newest(query: LogQuery): Promise<readonly LoggedEvent[]>;
  /** The discarded events of a destination with smaller ids than `before`, or all with null, the newest first. */
  discarded(
    destination: WebhookDestination,
    before: string | null,
    limit: number,
  ): Promise<readonly LoggedEvent[]>;
  /** The events of the ordering keys that are open or were attempted, the oldest first, with their bodies. */
  ofOrderingKeys(
    orderingKeys: readonly string[],
  ): Promise<readonly (LoggedEvent & Pick<WebhookEvent, 'body'>)[]>;
  /** The circuits of destinations behind `after` (a `destinationKey`), in the order of their keys, closed ones included. */
  circuits(after: string | null, limit: number): Promise<readonly DestinationCircuit[]>;
}
