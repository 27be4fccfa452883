import { millisecondsInSecond } from 'date-fns/constants';
import type { PlainSecret } from '../shared/sealed-secret.ts';
import type { InboundSecrets } from './inbound-secrets.ts';
import { addressOf } from './inbound-webhook.ts';
import { type Hmac, signInbound, signStandard } from './signer.ts';
import { newEvent, type WebhookEvent } from './webhook-event.ts';

export const INBOUND_EVENT_NAME = 'whatsapp.inbound_message.received';

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

/** The body of an inbound event; made once, so that every attempt sends the same bytes. */
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

/** The event that tells of a whatsapp message to one of the customer's numbers; not scheduled yet. */
export function inboundEvent(
  inbound: InboundMessage,
  webhook: InboundSecrets & { readonly url: string },
  now: number,
): WebhookEvent {
  return {
    ...newEvent(inbound.eventId, now),
    kind: 'inbound',
    projectId: inbound.projectId,
    orderingKey: `${inbound.phoneNumber.id}/${inbound.message.id}`,
    whatsappPhoneId: inbound.phoneNumber.id,
    ...addressOf(webhook, now),
    body: JSON.stringify(inboundPayload(inbound)),
  };
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

/**
 * The headers of one attempt; `attempt` counts from 1, `now` is in milliseconds. The signature of specification 6.2 is made by
 * the first secret, and a Standard Webhooks signature by each of them.
 */
export function inboundHeaders(
  hmac: Hmac,
  event: {
    readonly eventId: string;
    readonly body: string;
    readonly secrets: readonly [PlainSecret, ...PlainSecret[]];
  },
  attempt: number,
  now: number,
): Readonly<Record<string, string>> {
  const { eventId, body, secrets } = event;
  const timestamp = String(now);
  const seconds = String(Math.floor(now / millisecondsInSecond));
  return {
    'Content-Type': 'application/json',
    'X-SVC-Webhook-Event': INBOUND_EVENT_NAME,
    'X-SVC-Webhook-Event-Id': eventId,
    'X-SVC-Webhook-Timestamp': timestamp,
    'X-SVC-Webhook-Attempt': String(attempt),
    'X-SVC-Webhook-Signature': signInbound(hmac, secrets[0], timestamp, body),
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((each) => signStandard(hmac, each, eventId, seconds, body)).join(' '),
  };
}
