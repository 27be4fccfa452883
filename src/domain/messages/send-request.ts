import type { Channel } from '../shared/channel.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import type { SealedSecret } from '../shared/sealed-secret.ts';
import type { TemplateParameters } from '../whatsapp/template-parameters.ts';
import type { ProviderValue } from './provider-value.ts';

export const SMS_TYPES = ['verification', 'custom', 'whatsapp-template'] as const;

export const SENDER_ID_CHARACTERS_MAX = 11;
export const VERIFICATION_CODE_CHARACTERS_MAX = 20;
export const CUSTOM_MESSAGE_CHARACTERS_MAX = 1000;

export const DELIVERY_REPORT_TYPES = ['all', 'final'] as const;
export type DeliveryReportType = (typeof DELIVERY_REPORT_TYPES)[number];

/** The subscription to the webhook events of one message (specification 6.1). */
export interface DeliveryReport<Secret = SealedSecret> {
  readonly webhookUrl: string;
  readonly deliveryReportType: DeliveryReportType;
  readonly webhookSecret: Secret | null;
}

/** The content of a message; one shape per `smsType` (specification 4.1). */
export type Content =
  | { readonly smsType: 'verification'; readonly verificationCode: string }
  | { readonly smsType: 'custom'; readonly customMessage: string }
  | {
      readonly smsType: 'whatsapp-template';
      readonly templateName: string;
      readonly templateParameters: TemplateParameters;
    };

/** The whatsapp number and template a caller wants to send with; the ids are ours, 24 hex characters. */
export interface WhatsappSender {
  readonly accountId: string | null;
  readonly phoneId: string | null;
  readonly templateName: string | null;
  /** Which template of this name, as it has one for each language; absent when only the name was given, or stored. */
  readonly templateId?: string;
}

/** A well-formed request to send one message. */
export interface SendRequest<Secret = SealedSecret> {
  /** Canonical: the same for every spelling of a handset's number. */
  readonly phoneNumber: PhoneNumber;
  /** The number as the caller wrote it, which is the one that replies show. */
  readonly phoneNumberAsSent: string;
  readonly provider: ProviderValue;
  readonly senderId: string | null;
  readonly content: Content;
  readonly whatsappSender: WhatsappSender;
  readonly deliveryReport: DeliveryReport<Secret> | null;
}

/** Telegram's gateway carries verification codes of 4 to 8 digits and nothing else. */
const TELEGRAM_CODE_PATTERN = /^[0-9]{4,8}$/;

/** Whether a channel can carry the content at all; a chain skips the channels that cannot. */
export function canCarry(channel: Channel, content: Content): boolean {
  switch (channel) {
    case 'telegram':
      return content.smsType === 'verification' && TELEGRAM_CODE_PATTERN.test(content.verificationCode);
    case 'sms':
      return content.smsType !== 'whatsapp-template';
    case 'whatsapp':
      return true;
    default:
      return channel satisfies never;
  }
}

/**
 * The content of a message whose status is final: its kind and length can be seen, codes and texts cannot be read.
 * Idempotent.
 */
export function maskContent(content: Content): Content {
  switch (content.smsType) {
    case 'verification':
      return { smsType: 'verification', verificationCode: '*'.repeat(content.verificationCode.length) };
    case 'custom':
      return { smsType: 'custom', customMessage: '*'.repeat(content.customMessage.length) };
    case 'whatsapp-template':
      return { smsType: 'whatsapp-template', templateName: content.templateName, templateParameters: {} };
    default:
      return content satisfies never;
  }
}
