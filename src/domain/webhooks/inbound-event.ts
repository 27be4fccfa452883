import { isSuccess, POSTPONE_MS, type PostResult, wasPosted } from './post-result.ts';
import { INBOUND_QUICK_ATTEMPTS, nextInboundAttempt, WEBHOOK_LOG_LIFETIME_MS } from './retry-schedule.ts';
import { type Hmac, signInbound } from './signer.ts';

export const INBOUND_EVENT_NAME = 'whatsapp.inbound_message.received';

/** The specification leaves the fixed prefix open; this one follows the pattern of the header names. */
export const INBOUND_SECRET_PREFIX = 'svc_live_sk';
export const INBOUND_SECRET_RANDOM_BYTES = 32;
export const INBOUND_SECRET_HEX_CHARACTERS = 2 * INBOUND_SECRET_RANDOM_BYTES;
export const INBOUND_SECRET_PATTERN = new RegExp(
  `^${INBOUND_SECRET_PREFIX}[a-f0-9]{${INBOUND_SECRET_HEX_CHARACTERS}}$`,
);

/** `pending` has quick attempts left, `queued_retry` is tried hourly, the other two are final. */
export const INBOUND_STATES = ['pending', 'delivered', 'queued_retry', 'discarded'] as const;
export type InboundState = (typeof INBOUND_STATES)[number];

interface Media {
  readonly mediaId: string;
  readonly mimeType: string;
  readonly caption?: string;
  readonly filename?: string;
}

interface Reply {
  readonly id: string;
  readonly title: string;
}

/** What a customer's customer wrote; the shape of `content` follows from `type`. */
export type InboundContent =
  | { readonly type: 'text'; readonly content: { readonly text: string } }
  | {
      readonly type: 'location';
      readonly content: {
        readonly latitude: number;
        readonly longitude: number;
        readonly name?: string;
        readonly address?: string;
      };
    }
  | { readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker'; readonly content: Media }
  | { readonly type: 'button_reply' | 'list_reply'; readonly content: Reply }
  | { readonly type: 'unsupported'; readonly content: Readonly<Record<string, never>> };

export interface InboundMessage {
  readonly eventId: string;
  /** When the message was received, ISO 8601. */
  readonly timestamp: string;
  readonly projectId: string;
  readonly phoneNumber: {
    readonly id: string;
    readonly phoneNumberId: string;
    readonly displayPhoneNumber: string;
  };
  /** `phoneNumber` in digits; `name` is empty when whatsapp gave none. */
  readonly contact: { readonly phoneNumber: string; readonly name: string };
  readonly message: { readonly id: string; readonly timestamp: string } & InboundContent;
}

/** The body of an inbound event; made once, so that every attempt posts the same bytes. */
export interface InboundPayload {
  readonly event: typeof INBOUND_EVENT_NAME;
  readonly eventId: string;
  readonly timestamp: string;
  readonly project: string;
  readonly phoneNumber: InboundMessage['phoneNumber'];
  readonly contact: InboundMessage['contact'];
  readonly message: {
    readonly id: string;
    readonly type: InboundContent['type'];
    readonly timestamp: string;
    readonly content: InboundContent['content'];
  };
}

/** Where an event stands. Instants are milliseconds since 1970. */
export interface InboundEvent {
  readonly state: InboundState;
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
  /** When it is tried next; null in a final state. */
  readonly nextAttemptAt: number | null;
  /** What the last attempt met, `HTTP 500` or a reason of the transport; null before and after success. */
  readonly lastError: string | null;
  readonly createdAt: number;
}

/** The event's body (specification 6.2 leaves its fields open). */
export function inboundPayload(inbound: InboundMessage): InboundPayload {
  const { id, type, timestamp, content } = inbound.message;
  return {
    event: INBOUND_EVENT_NAME,
    eventId: inbound.eventId,
    timestamp: inbound.timestamp,
    project: inbound.projectId,
    phoneNumber: inbound.phoneNumber,
    contact: inbound.contact,
    message: { id, type, timestamp, content },
  };
}

/** The headers of one attempt (specification 6.2); `attempt` counts from 1, `now` is in milliseconds. */
export function inboundHeaders(
  hmac: Hmac,
  event: { readonly eventId: string; readonly body: string; readonly secret: string },
  attempt: number,
  now: number,
): Readonly<Record<string, string>> {
  const timestamp = String(now);
  return {
    'Content-Type': 'application/json',
    'X-SVC-Webhook-Event': INBOUND_EVENT_NAME,
    'X-SVC-Webhook-Event-Id': event.eventId,
    'X-SVC-Webhook-Timestamp': timestamp,
    'X-SVC-Webhook-Attempt': String(attempt),
    'X-SVC-Webhook-Signature': signInbound(hmac, event.secret, timestamp, event.body),
  };
}

/** The progress of a new event of either kind: its first attempt is due at once. */
export function newEventProgress(now: number): InboundEvent {
  return {
    state: 'pending',
    attempts: 0,
    firstAttemptAt: null,
    nextAttemptAt: now,
    lastError: null,
    createdAt: now,
  };
}

/**
 * The event after an attempt that began at `attemptedAt`. Only a 2xx delivers it; every other result follows
 * the schedule of specification 6.2, whatever the receiver asked for. A delivered event stays delivered. When
 * nothing was sent it is no attempt, and the event is due again soon.
 */
export function afterInboundAttempt(
  event: InboundEvent,
  result: PostResult,
  attemptedAt: number,
): InboundEvent {
  if (!wasPosted(result)) {
    return event.nextAttemptAt === null ? event : { ...event, nextAttemptAt: attemptedAt + POSTPONE_MS };
  }
  const attempts = event.attempts + 1;
  const firstAttemptAt = event.firstAttemptAt ?? attemptedAt;
  if (event.state === 'delivered' || (result.kind === 'answered' && isSuccess(result.status))) {
    return {
      ...event,
      state: 'delivered',
      attempts,
      firstAttemptAt,
      nextAttemptAt: null,
      lastError: null,
    };
  }
  const lastError = result.kind === 'answered' ? `HTTP ${result.status}` : result.reason;
  const next = nextInboundAttempt({ attempts, firstAttemptAt, attemptedAt });
  if (next.kind === 'give-up') {
    return { ...event, state: 'discarded', attempts, firstAttemptAt, nextAttemptAt: null, lastError };
  }
  const state = attempts < INBOUND_QUICK_ATTEMPTS ? 'pending' : 'queued_retry';
  return { ...event, state, attempts, firstAttemptAt, nextAttemptAt: next.at, lastError };
}

/**
 * The event made due at once by hand (specification 6.2), or null when there is nothing to retry: it was
 * delivered, or its log has expired. A discarded event gets one more attempt, no second two days.
 */
export function retryByHand(event: InboundEvent, now: number): InboundEvent | null {
  if (event.state === 'delivered' || isLogExpired(event, now)) return null;
  return { ...event, state: event.state === 'discarded' ? 'queued_retry' : event.state, nextAttemptAt: now };
}

/** Whether the event has left the log, which keeps it for 15 days (specification 6.2). */
export function isLogExpired(event: Pick<InboundEvent, 'createdAt'>, now: number): boolean {
  return now >= event.createdAt + WEBHOOK_LOG_LIFETIME_MS;
}
