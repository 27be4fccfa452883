import { millisecondsInSecond } from 'date-fns/constants';
import type { ChainEffect } from '../chain/chain-outcome.ts';
import type { Message } from '../messages/message.ts';
import type { DeliveryReport, DeliveryReportType } from '../messages/send-request.ts';
import type { Channel } from '../shared/channel.ts';
import type { PlainSecret } from '../shared/sealed-secret.ts';
import { endpointOf } from './endpoint.ts';
import { type Hmac, signStandard } from './signer.ts';
import { newEvent, type WebhookEvent } from './webhook-event.ts';

export type StatusChange = Extract<ChainEffect, { readonly kind: 'status-changed' }>;

/** The body of a delivery webhook (specification 6.1). */
export interface DeliveryPayload {
  readonly smsId: string;
  readonly deliveryReportType: DeliveryReportType;
  readonly isFinal: boolean;
  readonly channel: Channel;
  readonly status: StatusChange['status'];
  readonly reason?: string;
  readonly senderId?: string;
}

/** Who an attempt is signed and marked for. */
export interface DeliveryAttempt {
  readonly eventId: string;
  /** Milliseconds since 1970; every attempt is stamped and signed anew. */
  readonly now: number;
  readonly body: string;
  /** The `webhookSecret` the caller gave with the message; null when none was given. */
  readonly secret: PlainSecret | null;
}

const UNKNOWN_REASON = 'The message could not be delivered';

/** Whether a subscription is told of this change: `all` of every one, `final` of delivered and failed only. */
export function wantsStatusChange(deliveryReportType: DeliveryReportType, change: StatusChange): boolean {
  return deliveryReportType === 'all' || change.status !== 'sent';
}

/** The event that tells of a message's new status; not scheduled yet. */
export function deliveryEvent(
  id: string,
  message: Pick<Message, 'smsId' | 'senderId' | 'projectId'>,
  report: DeliveryReport,
  change: StatusChange,
  now: number,
): WebhookEvent {
  return {
    ...newEvent(id, now),
    kind: 'delivery',
    projectId: message.projectId,
    orderingKey: message.smsId,
    whatsappPhoneId: null,
    url: report.webhookUrl,
    endpoint: endpointOf(report.webhookUrl),
    secret: report.webhookSecret,
    body: JSON.stringify(deliveryPayload(message, report, change)),
  };
}

/** The body of the event; `reason` only when the message failed, `senderId` only when one was given. */
export function deliveryPayload(
  message: Pick<Message, 'smsId' | 'senderId'>,
  report: Pick<DeliveryReport, 'deliveryReportType'>,
  change: StatusChange,
): DeliveryPayload {
  return {
    smsId: message.smsId,
    deliveryReportType: report.deliveryReportType,
    isFinal: change.isFinal,
    channel: change.channel,
    status: change.status,
    ...(change.status === 'failed' ? { reason: change.reason ?? UNKNOWN_REASON } : {}),
    ...(message.senderId === null ? {} : { senderId: message.senderId }),
  };
}

/** Whether the body of a delivery event tells of the end of its message. */
export function tellsOfEnd(body: string): boolean {
  return (JSON.parse(body) as DeliveryPayload).isFinal;
}

/** The headers of one attempt: with a secret, the secret as it was given, and a Standard Webhooks signature by it. */
export function deliveryHeaders(hmac: Hmac, attempt: DeliveryAttempt): Readonly<Record<string, string>> {
  const { eventId, now, body, secret } = attempt;
  const timestamp = String(Math.floor(now / millisecondsInSecond));
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
  };
  if (secret !== null) {
    headers['webhook-signature'] = signStandard(hmac, secret, eventId, timestamp, body);
    headers['X-SVC-Webhook-Secret'] = secret;
  }
  return headers;
}
