import type { ChainEffect } from '../messages/chain-event.ts';
import type { Channel } from '../messages/channel.ts';
import type { Message } from '../messages/message.ts';
import type { DeliveryReport, DeliveryReportType } from '../messages/send-request.ts';
import { MS_PER_SECOND } from '../shared/durations.ts';
import { isSuccess, POSTPONE_MS, type PostResult, wasPosted } from './post-result.ts';
import { type Hmac, signStandard } from './signer.ts';

export type StatusChange = Extract<ChainEffect, { readonly kind: 'status-changed' }>;

/** The body of a status webhook (specification 6.1). */
export interface DeliveryPayload {
  readonly smsId: string;
  readonly deliveryReportType: DeliveryReportType;
  readonly isFinal: boolean;
  readonly channel: Channel;
  readonly status: StatusChange['status'];
  readonly reason?: string;
  readonly senderId?: string;
}

/**
 * What a result means for the event. `stop` ends its attempts at once; `postpone` means that nothing was sent,
 * so it counts as no attempt and says nothing about the receiver.
 */
export type DeliveryVerdict =
  | { readonly kind: 'success' }
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'postpone'; readonly delayMs: number }
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfterMs: number | null };

/** Who an attempt is signed and marked for. */
export interface DeliveryAttempt {
  readonly eventId: string;
  /** Milliseconds since 1970; every attempt is stamped and signed anew. */
  readonly now: number;
  readonly body: string;
  /** The secret the caller gave with the message; null when none was given. */
  readonly webhookSecret: string | null;
  /** The project's own signing secret; null leaves the signature headers away. */
  readonly signingSecret: string | null;
}

/** The receiver says that the address is gone and stays so. */
const STATUS_GONE = 410;
const UNKNOWN_REASON = 'The message could not be delivered';

/** Whether a subscription is told of this change: `all` of every one, `final` of delivered and failed only. */
export function wantsStatusChange(deliveryReportType: DeliveryReportType, change: StatusChange): boolean {
  return deliveryReportType === 'all' || change.status !== 'sent';
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

/** The headers of one attempt: the caller's secret as it was given, and the Standard Webhooks signature beside it. */
export function deliveryHeaders(hmac: Hmac, attempt: DeliveryAttempt): Readonly<Record<string, string>> {
  const { eventId, now, body, webhookSecret, signingSecret } = attempt;
  const timestamp = String(Math.floor(now / MS_PER_SECOND));
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
  };
  if (signingSecret !== null) {
    headers['webhook-signature'] = signStandard(hmac, signingSecret, eventId, timestamp, body);
  }
  if (webhookSecret !== null) headers['X-SVC-Webhook-Secret'] = webhookSecret;
  return headers;
}

/** Specification 6.1: any 2xx is success; 410 and a refused address stop the event; all else is tried again. */
export function judgeDelivery(result: PostResult): DeliveryVerdict {
  if (!wasPosted(result)) return { kind: 'postpone', delayMs: POSTPONE_MS };
  if (result.kind === 'failed') {
    return result.reason === 'address-refused'
      ? { kind: 'stop', reason: result.reason }
      : { kind: 'retry', reason: result.reason, retryAfterMs: null };
  }
  if (isSuccess(result.status)) return { kind: 'success' };
  const reason = `HTTP ${result.status}`;
  return result.status === STATUS_GONE
    ? { kind: 'stop', reason }
    : { kind: 'retry', reason, retryAfterMs: result.retryAfterMs };
}
