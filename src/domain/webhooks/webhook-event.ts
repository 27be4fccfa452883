import type { SealedSecret } from '../shared/sealed-secret.ts';
import { type DeliveryResult, errorOf, isPermanent, isSuccess } from './delivery-result.ts';
import {
  INBOUND_QUICK_ATTEMPTS,
  type NextAttempt,
  nextDeliveryAttempt,
  nextInboundAttempt,
} from './retry-schedule.ts';
import { isInbound, type WebhookKind } from './webhook-kind.ts';

/**
 * `pending` is tried again soon, `queued_retry` hourly (inbound events only); the others are final. `superseded`: a later
 * event of its ordering key took its place before it was delivered.
 */
export const WEBHOOK_STATES = ['pending', 'queued_retry', 'delivered', 'discarded', 'superseded'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/**
 * Something to tell a customer's server. The events of one `orderingKey` are delivered in order: it names a message that was
 * sent, one that came in, or the credit of a project. Instants are milliseconds since 1970.
 */
export interface WebhookEvent {
  readonly id: string;
  readonly kind: WebhookKind;
  readonly projectId: string;
  readonly orderingKey: string;
  /** Our 24-hex id of the whatsapp number an inbound event came in on; null for every other event. */
  readonly whatsappPhoneId: string | null;
  readonly url: string;
  /** Host, port and path. The project and the endpoint are the destination of the event. */
  readonly endpoint: string;
  readonly secret: SealedSecret | null;
  /** Made once, so that every attempt sends the same bytes. */
  readonly body: string;
  readonly state: WebhookState;
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
  /** When it is tried next; null when it is final, or waits for an earlier event of its ordering key. */
  readonly nextAttemptAt: number | null;
  /** Why the last attempt failed: `HTTP 500`, or a reason of the transport. Null before an attempt and after a success. */
  readonly lastError: string | null;
  readonly createdAt: number;
  /** Rises with every stored change. A change to an older version is not stored. */
  readonly version: number;
}

/** One attempt that came to an end. */
export interface FinishedAttempt {
  readonly result: DeliveryResult;
  readonly startedAt: number;
  readonly endedAt: number;
  /** A fresh random number, at least 0 and below 1. */
  readonly jitter: number;
}

/** Whether attempts may still be made: neither delivered, nor discarded, nor superseded by a later event. */
export function isOpen({ state }: WebhookEvent): boolean {
  return state === 'pending' || state === 'queued_retry';
}

/** The event with an attempt due at `at`. */
export function scheduled(event: WebhookEvent, at: number): WebhookEvent {
  return { ...event, nextAttemptAt: at };
}

/** A later event of the same ordering key takes its place: nothing more is attempted. */
export function supersede(event: WebhookEvent): WebhookEvent {
  return { ...event, state: 'superseded', nextAttemptAt: null };
}

/** Nothing more is attempted, for a reason that no attempt found. */
export function discard(event: WebhookEvent, lastError: string): WebhookEvent {
  return { ...event, state: 'discarded', nextAttemptAt: null, lastError };
}

/**
 * The event after an attempt: delivered by a 2xx, discarded when nothing is to be tried again, else due by the
 * schedule of its kind (specification 6.1 and 6.2). An event that is not open any more stays as it is: what ended it
 * came first.
 */
export function afterAttempt(event: WebhookEvent, ended: FinishedAttempt): WebhookEvent {
  const { result, startedAt } = ended;
  if (!isOpen(event)) return event;
  const tried = {
    ...event,
    attempts: event.attempts + 1,
    firstAttemptAt: event.firstAttemptAt ?? startedAt,
    nextAttemptAt: null,
  };
  if (isSuccess(result)) return { ...tried, state: 'delivered', lastError: null };
  const lastError = errorOf(result);
  const next = nextAttempt(tried, ended);
  if (next.kind === 'give-up') return discard(tried, lastError);
  return scheduled({ ...tried, state: stateOfRetry(tried), lastError }, next.at);
}

/**
 * Puts new events behind the open ones of their ordering keys. The first event of a key is due at once. An event that waits
 * for its retry is superseded by the next one. An event that is due may be in flight: those behind it wait for its result.
 */
export function enqueueInOrder(
  open: readonly WebhookEvent[],
  added: readonly WebhookEvent[],
  now: number,
): { readonly added: readonly WebhookEvent[]; readonly superseded: readonly WebhookEvent[] } {
  const heads = new Map(
    open.filter(({ nextAttemptAt }) => nextAttemptAt !== null).map((event) => [event.orderingKey, event]),
  );
  const waiting = new Set(
    open.filter(({ nextAttemptAt }) => nextAttemptAt === null).map(({ orderingKey }) => orderingKey),
  );
  const superseded: WebhookEvent[] = [];
  const joined = added.map((event) => {
    const head = heads.get(event.orderingKey);
    if (head !== undefined) {
      if (head.attempts === 0 || isDue(head, now) || waiting.has(event.orderingKey)) {
        waiting.add(event.orderingKey);
        return event;
      }
      superseded.push(supersede(head));
    }
    const first = scheduled(event, now);
    heads.set(event.orderingKey, first);
    return first;
  });
  return { added: joined, superseded };
}

/**
 * What changes once the first event of an ordering key was attempted, given the open events of the key in their order: the
 * next one is due, and supersedes the first if that is still open. Nothing changes when no event waits.
 */
export function promoteNext(
  head: WebhookEvent,
  open: readonly WebhookEvent[],
  now: number,
): readonly WebhookEvent[] {
  const follower = open.find((event) => event.nextAttemptAt === null);
  if (follower === undefined || head.attempts === 0) return [];
  return [...(isOpen(head) ? [supersede(head)] : []), scheduled(follower, now)];
}

/** A due event may be in flight. */
function isDue({ nextAttemptAt }: WebhookEvent, now: number): boolean {
  return nextAttemptAt !== null && nextAttemptAt <= now;
}

/** What every new event begins with; `now` in milliseconds since 1970. */
export function newEvent(id: string, now: number) {
  return {
    id,
    state: 'pending',
    attempts: 0,
    firstAttemptAt: null,
    nextAttemptAt: null,
    lastError: null,
    createdAt: now,
    version: 0,
  } as const;
}

function nextAttempt(
  tried: WebhookEvent,
  { result, startedAt, endedAt, jitter }: FinishedAttempt,
): NextAttempt {
  const { attempts } = tried;
  if (isInbound(tried.kind)) {
    const firstAttemptAt = tried.firstAttemptAt ?? startedAt;
    return nextInboundAttempt({ attempts, firstAttemptAt, attemptedAt: startedAt });
  }
  if (isPermanent(result)) return { kind: 'give-up' };
  const retryAfterMs = result.kind === 'responded' ? result.retryAfterMs : null;
  return nextDeliveryAttempt({ attempts, failedAt: endedAt, jitter, retryAfterMs });
}

function stateOfRetry({ kind, attempts }: WebhookEvent): WebhookState {
  return isInbound(kind) && attempts >= INBOUND_QUICK_ATTEMPTS ? 'queued_retry' : 'pending';
}
