import type { Message } from '../messages/message.ts';
import type { DeliveryReport } from '../messages/send-request.ts';
import { deliveryPayload, judgeDelivery, type StatusChange } from './delivery-event.ts';
import { endpointOf } from './endpoint-health.ts';
import { afterInboundAttempt, type InboundState, newEventProgress } from './inbound-event.ts';
import type { PostResult } from './post-result.ts';
import { nextDeliveryAttempt } from './retry-schedule.ts';

/** `superseded`: a later event of the same message took its place before it was delivered. */
export type WebhookState = InboundState | 'superseded';

/**
 * Something a customer's server has to be told. `subject` is what its events are kept in order by: a message,
 * or the event itself. Instants are milliseconds since 1970.
 */
export interface WebhookEvent {
  readonly id: string;
  readonly kind: 'delivery' | 'inbound';
  readonly projectId: string;
  readonly subject: string;
  /** The whatsapp number an inbound event came in on; null for a delivery event. */
  readonly phoneNumberId: string | null;
  readonly url: string;
  /** Host and path: what temporary disabling goes by. */
  readonly endpoint: string;
  /** As the secret box sealed it; null when there is none. */
  readonly secret: string | null;
  /** Made once, so that every attempt posts the same bytes. */
  readonly body: string;
  readonly state: WebhookState;
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
  /** When it is tried next; null when it is final, or waits for an earlier event of its subject. */
  readonly nextAttemptAt: number | null;
  readonly lastError: string | null;
  readonly createdAt: number;
  /** Rises with every change that is stored: what was made of an older one is void. */
  readonly version: number;
}

/** One attempt that came to an end. */
export interface EndedAttempt {
  readonly result: PostResult;
  readonly startedAt: number;
  readonly endedAt: number;
  /** A fresh random number, at least 0 and below 1. */
  readonly jitter: number;
}

/** The event that tells of a message's new status; not scheduled yet. */
export function statusEvent(
  id: string,
  message: Pick<Message, 'smsId' | 'senderId' | 'projectId'>,
  report: DeliveryReport,
  change: StatusChange,
  now: number,
): WebhookEvent {
  return {
    ...newEventProgress(now),
    nextAttemptAt: null,
    id,
    kind: 'delivery',
    projectId: message.projectId,
    subject: message.smsId,
    phoneNumberId: null,
    url: report.webhookUrl,
    endpoint: endpointOf(report.webhookUrl),
    secret: report.webhookSecret,
    body: JSON.stringify(deliveryPayload(message, report, change)),
    version: 0,
  };
}

/** Whether attempts may still be made: neither delivered, nor discarded, nor superseded by a later event. */
export function isOpen({ state }: WebhookEvent): boolean {
  return state === 'pending' || state === 'queued_retry';
}

/** The event with an attempt due at `at`. */
export function scheduled(event: WebhookEvent, at: number): WebhookEvent {
  return { ...event, nextAttemptAt: at };
}

/** A later event of the same subject takes its place: nothing more is attempted. */
export function supersede(event: WebhookEvent): WebhookEvent {
  return { ...event, state: 'superseded', nextAttemptAt: null };
}

/**
 * The event after an attempt, by the rules of its kind (specification 6.1 and 6.2). An event that is not open
 * any more stays as it is: what ended it came first.
 */
export function afterAttempt(event: WebhookEvent, ended: EndedAttempt): WebhookEvent {
  if (!isOpen(event)) return event;
  return event.kind === 'inbound' ? afterInbound(event, ended) : afterDelivery(event, ended);
}

/** The line of one subject once its head was attempted: who is next, and who gave way. */
export function moveLine(
  head: WebhookEvent,
  waiting: readonly WebhookEvent[],
  now: number,
): { readonly head: WebhookEvent; readonly next: WebhookEvent | null } {
  const follower = waiting.find(
    (event) => event.id !== head.id && isOpen(event) && event.nextAttemptAt === null,
  );
  if (follower === undefined || head.attempts === 0) return { head, next: null };
  return { head: isOpen(head) ? supersede(head) : head, next: scheduled(follower, now) };
}

function afterInbound(event: WebhookEvent, { result, startedAt }: EndedAttempt): WebhookEvent {
  if (event.state === 'superseded') return event;
  return { ...event, ...afterInboundAttempt({ ...event, state: event.state }, result, startedAt) };
}

function afterDelivery(event: WebhookEvent, ended: EndedAttempt): WebhookEvent {
  const { result, startedAt, endedAt, jitter } = ended;
  const verdict = judgeDelivery(result);
  if (verdict.kind === 'postpone') return { ...event, nextAttemptAt: endedAt + verdict.delayMs };
  const tried = {
    ...event,
    attempts: event.attempts + 1,
    firstAttemptAt: event.firstAttemptAt ?? startedAt,
    nextAttemptAt: null,
  };
  switch (verdict.kind) {
    case 'success':
      return { ...tried, state: 'delivered', lastError: null };
    case 'stop':
      return { ...tried, state: 'discarded', lastError: verdict.reason };
    case 'retry': {
      const { attempts } = tried;
      const next = nextDeliveryAttempt({
        attempts,
        failedAt: endedAt,
        jitter,
        retryAfterMs: verdict.retryAfterMs,
      });
      return next.kind === 'give-up'
        ? { ...tried, state: 'discarded', lastError: verdict.reason }
        : { ...tried, nextAttemptAt: next.at, lastError: verdict.reason };
    }
    default:
      return verdict satisfies never;
  }
}
