import { type DeliveryResult, errorOf, isSuccess } from './delivery-result.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** One delivery attempt of a webhook event, as it is stored. Instants are milliseconds since 1970. */
export interface WebhookAttempt {
  readonly orderingKey: string;
  readonly eventId: string;
  /** Counts from 1, also over attempts that an operator asked for. */
  readonly attemptNumber: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** The HTTP status; null when there was no response. */
  readonly status: number | null;
  /** Why it failed; null for a success. */
  readonly error: string | null;
  /** What the body of the response begins with; null when it was empty or there was no response. */
  readonly response: string | null;
}

/** The attempt that made `event` what it is now. */
export function webhookAttempt(
  { id, orderingKey, attempts }: Pick<WebhookEvent, 'id' | 'orderingKey' | 'attempts'>,
  {
    result,
    startedAt,
    endedAt,
  }: { readonly result: DeliveryResult; readonly startedAt: number; readonly endedAt: number },
): WebhookAttempt {
  return {
    orderingKey,
    eventId: id,
    attemptNumber: attempts,
    startedAt,
    // A clock that was put back must not make it negative.
    durationMs: Math.max(0, endedAt - startedAt),
    status: result.kind === 'responded' ? result.status : null,
    error: isSuccess(result) ? null : errorOf(result),
    response: (result.kind === 'responded' ? result.responseStart : null) ?? null,
  };
}
