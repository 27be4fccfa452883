import { tellsOfEnd } from './delivery-event.ts';
import { addressOf, type InboundWebhook } from './inbound-webhook.ts';
import { WEBHOOK_LOG_LIFETIME_MS } from './retry-schedule.ts';
import { isOpen, scheduled, supersede, type WebhookEvent } from './webhook-event.ts';
import { isInbound, orderingOf } from './webhook-kind.ts';

/** What is known beside the events that are sent again. */
export interface ResendContext {
  /** The ids of messages that are not final. */
  readonly openMessages: ReadonlySet<string>;
  /** The newest event of each ordering key of notices. */
  readonly newestNotices: ReadonlyMap<string, string>;
  /** The inbound webhooks that whatsapp numbers have now, by our id of the number. */
  readonly inboundWebhooks: ReadonlyMap<string, InboundWebhook>;
}

/** What becomes of events that an operator sends again. Events in none of the lists stay as they are. */
export interface Resent {
  readonly resent: readonly WebhookEvent[];
  /** Discarded events that newer ones of their ordering keys replace. */
  readonly superseded: readonly WebhookEvent[];
  /** Events whose number has no inbound webhook of their project now. They stay as they are, too. */
  readonly withoutWebhook: readonly WebhookEvent[];
}

/**
 * Makes events due at `now` that wait for a retry or were discarded. A discarded event goes on with its schedule, and gets at
 * least one more attempt. An inbound event goes to the webhook that its number has now. An event is superseded when a newer
 * one exists, because a customer must not be told of an earlier status after a later one. Left out are events that
 * are due, wait for an earlier one, were delivered or superseded, or have left the log.
 */
export function resend(events: readonly WebhookEvent[], context: ResendContext, now: number): Resent {
  const resent: WebhookEvent[] = [];
  const superseded: WebhookEvent[] = [];
  const withoutWebhook: WebhookEvent[] = [];
  for (const event of events) {
    if (!isResendable(event, now)) continue;
    const addressed = withPresentAddress(event, context.inboundWebhooks, now);
    if (addressed === null) withoutWebhook.push(event);
    else if (isNewest(event, context)) resent.push(scheduled(reopened(addressed), now));
    else if (event.state === 'discarded') superseded.push(supersede(event));
  }
  return { resent, superseded, withoutWebhook };
}

function isResendable(event: WebhookEvent, now: number): boolean {
  if (now >= event.createdAt + WEBHOOK_LOG_LIFETIME_MS) return false;
  if (event.state === 'discarded') return true;
  return isOpen(event) && event.nextAttemptAt !== null && event.nextAttemptAt > now;
}

/** Null for an inbound event whose number has no webhook of its project. */
function withPresentAddress(
  event: WebhookEvent,
  inboundWebhooks: ReadonlyMap<string, InboundWebhook>,
  now: number,
): WebhookEvent | null {
  if (event.whatsappPhoneId === null) return event;
  const webhook = inboundWebhooks.get(event.whatsappPhoneId);
  if (webhook?.projectId !== event.projectId) return null;
  return { ...event, ...addressOf(webhook, now) };
}

/**
 * Ids do not order the events of one message: two may be made in one millisecond, or by processes whose clocks differ. The
 * message itself says whether there is one behind `sent`. Notices have a top-up between them, so ids order them.
 * A message that came in has one event.
 */
function isNewest(
  { id, kind, orderingKey, body }: WebhookEvent,
  { openMessages, newestNotices }: ResendContext,
): boolean {
  const ordering = orderingOf(kind);
  switch (ordering) {
    case 'message':
      return tellsOfEnd(body) || openMessages.has(orderingKey);
    case 'arrival':
      return true;
    case 'notices':
      return newestNotices.get(orderingKey) === id;
    default:
      return ordering satisfies never;
  }
}

function reopened(event: WebhookEvent): WebhookEvent {
  if (isOpen(event)) return event;
  return { ...event, state: isInbound(event.kind) ? 'queued_retry' : 'pending' };
}
