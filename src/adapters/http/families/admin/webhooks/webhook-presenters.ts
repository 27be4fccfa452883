import type { z } from 'zod';
import type {
  DestinationCircuit,
  LoggedEvent,
} from '../../../../../application/ports/stores/webhook-log-store.ts';
import { circuitAt } from '../../../../../domain/shared/circuit-breaker.ts';
import { isoOf, isoOrNull } from '../../../../../domain/shared/instant.ts';
import { DESTINATION_OPEN_WINDOWS_MS } from '../../../../../domain/webhooks/destination.ts';
import type { WebhookAttempt } from '../../../../../domain/webhooks/webhook-attempt.ts';
import { orderingOf } from '../../../../../domain/webhooks/webhook-kind.ts';
import type { circuitSchema, eventSchema, webhookAttemptSchema } from './webhook-schemas.ts';

export function presentEvent(event: LoggedEvent): z.input<typeof eventSchema> {
  const { id, kind, projectId, orderingKey, whatsappPhoneId, endpoint, state, attempts, lastError } = event;
  return {
    id,
    kind,
    project: projectId,
    message: orderingOf(kind) === 'message' ? orderingKey : null,
    whatsappPhoneId,
    endpoint,
    state,
    attempts,
    createdAt: isoOf(event.createdAt),
    nextAttemptAt: isoOrNull(event.nextAttemptAt),
    lastError,
  };
}

export function presentAttempt(attempt: WebhookAttempt): z.input<typeof webhookAttemptSchema> {
  const { attemptNumber, startedAt, durationMs, status, error, response } = attempt;
  return { number: attemptNumber, startedAt: isoOf(startedAt), durationMs, status, error, response };
}

/** A circuit that is not closed. */
export function presentCircuit(
  { projectId, endpoint, breaker }: DestinationCircuit,
  now: number,
): z.input<typeof circuitSchema> {
  const { openUntil, openSince = null, lastError = null, isHalfOpen } = breaker;
  return {
    project: projectId,
    endpoint,
    state:
      isHalfOpen || circuitAt(breaker, now, DESTINATION_OPEN_WINDOWS_MS).state === 'half-open'
        ? 'half-open'
        : 'open',
    since: isoOrNull(openSince),
    until: isoOf(openUntil ?? now),
    lastError,
  };
}
