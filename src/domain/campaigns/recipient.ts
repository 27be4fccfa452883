import { amountCaptured } from '../billing/settlement.ts';
import { type Message, SMS_ID_PREFIX } from '../messages/message.ts';
import type { MessageStatus } from '../messages/message-status.ts';
import type { Money } from '../shared/money.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import type { TemplateParameters } from '../whatsapp/template-parameters.ts';

/** Specification 2.3. */
export const RECIPIENT_STATUSES = ['queued', 'sent', 'delivered', 'read', 'failed'] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];

/** `charged`: delivered or read. `released`: failed, or nothing was reported within the time for delivery receipts. */
export const BILLING_STATES = ['pending', 'reserved', 'charged', 'released'] as const;
export type BillingState = (typeof BILLING_STATES)[number];

/** What the message of a recipient changes about it. */
export interface RecipientProgress {
  readonly status: RecipientStatus;
  readonly finalCost: Money | null;
  readonly billingState: BillingState;
  readonly errorMessage: string | null;
  readonly sentAt: number | null;
  readonly deliveredAt: number | null;
  readonly readAt: number | null;
  readonly failedAt: number | null;
}

/** One number of a campaign, with its own values for the template. */
export interface Recipient extends RecipientProgress {
  readonly id: string;
  readonly campaignId: string;
  /** Its place in the order of attaching, from 0. */
  readonly position: number;
  /** Canonical: the same for every spelling of a handset's number. */
  readonly phoneNumber: PhoneNumber;
  readonly phoneNumberAsSent: string;
  readonly templateParameters: TemplateParameters;
  readonly estimatedCost: Money;
}

/** What all recipients of a campaign have alike until their messages are sent. */
export type RecipientCosts = Pick<Recipient, 'estimatedCost' | 'billingState'>;

/** A recipient as the caller wrote it. */
export type NewRecipient = Pick<Recipient, 'phoneNumber' | 'phoneNumberAsSent' | 'templateParameters'>;

const NOT_STARTED: RecipientProgress = {
  status: 'queued',
  finalCost: null,
  billingState: 'pending',
  errorMessage: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
};

/** The message of a recipient has the recipient's id: so there can only be one. */
export function smsIdOf(recipientId: string): string {
  return SMS_ID_PREFIX + recipientId;
}

/** The recipient whose message this is. */
export function recipientIdOf(smsId: string): string {
  return smsId.slice(SMS_ID_PREFIX.length);
}

/** A recipient of a campaign that has not started. */
export function newRecipient(
  { phoneNumber, phoneNumberAsSent, templateParameters }: NewRecipient,
  place: Pick<Recipient, 'id' | 'campaignId' | 'position' | 'estimatedCost'>,
): Recipient {
  return { ...place, phoneNumber, phoneNumberAsSent, templateParameters, ...NOT_STARTED };
}

/** What a recipient is once its message is as given. `now` is when the message became so. */
export function progressOf(message: Message, now: number): RecipientProgress {
  const { status, isFinal, finalAt, sentAt, errorReason } = message;
  const isDelivered = status === 'delivered' || status === 'read';
  const captured = amountCaptured(message, status === 'failed' ? null : 'whatsapp');
  return {
    status: recipientStatusOf(status),
    finalCost: isFinal ? captured : null,
    billingState: isFinal ? (isDelivered ? 'charged' : 'released') : 'reserved',
    errorMessage: status === 'failed' ? errorReason : null,
    sentAt,
    deliveredAt: isDelivered ? finalAt : null,
    readAt: status === 'read' ? now : null,
    failedAt: status === 'failed' ? finalAt : null,
  };
}

export function recipientStatusOf(status: MessageStatus): RecipientStatus {
  return status === 'pending' ? 'queued' : status;
}
