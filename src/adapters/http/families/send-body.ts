import { z } from 'zod';
import { PROVIDERS } from '../../../domain/messages/provider.ts';
import {
  CUSTOM_MESSAGE_CHARACTERS_MAX,
  type DeliveryReport,
  SENDER_ID_CHARACTERS_MAX,
  type SendRequest,
  SMS_TYPES,
  VERIFICATION_CODE_CHARACTERS_MAX,
} from '../../../domain/messages/send-request.ts';
import {
  canonicalPhoneNumber,
  PHONE_NUMBER_PATTERN,
  type PhoneNumber,
} from '../../../domain/shared/phone-number.ts';
import type { TemplateParameters } from '../../../domain/whatsapp/template-parameters.ts';
import {
  TEMPLATE_NAME_CHARACTERS_MAX,
  TEMPLATE_PARAMETER_CHARACTERS_MAX,
  WHATSAPP_ID_CHARACTERS_MAX,
} from '../limits.ts';
import { nameField, textField } from '../routing/text-fields.ts';
import { deliveryReportField } from './delivery-report-field.ts';

export const BODY_ERROR = 'The request body must be a JSON object';
const PHONE_ERROR =
  'Invalid phone number format: use the international format in digits only, for example 9647701234567';
const PARAMETER_KEY_ERROR = 'templateParameters may have keys of letters, digits and underscores only';
const PARAMETER_PART_ERROR = 'Each part of templateParameters must be an object';
const BUTTONS_ERROR = 'templateParameters.buttons must be an object with the keys 0 to 99';
const PARAMETER_VALUE_ERROR = 'templateParameters values must be strings or numbers';

export const phoneNumberField = z
  .string({ error: PHONE_ERROR })
  .regex(PHONE_NUMBER_PATTERN, { error: PHONE_ERROR });
const whatsappAccountId = nameField('whatsappAccountId', 1, WHATSAPP_ID_CHARACTERS_MAX);
const whatsappPhoneId = nameField('whatsappPhoneId', 1, WHATSAPP_ID_CHARACTERS_MAX);
const templateName = nameField('templateName', 1, TEMPLATE_NAME_CHARACTERS_MAX);

const parameterValue = z.union(
  [textField('A template parameter', 0, TEMPLATE_PARAMETER_CHARACTERS_MAX), z.number()],
  { error: PARAMETER_VALUE_ERROR },
);
const parameterKey = z.string().regex(/^[A-Za-z0-9_]{1,64}$/);
const parameterPart = z.record(parameterKey, parameterValue, {
  error: ({ code }) => (code === 'invalid_key' ? PARAMETER_KEY_ERROR : PARAMETER_PART_ERROR),
});
const buttonIndex = z.string().regex(/^[0-9]{1,2}$/);

/** Values for the placeholders of a template: body, header and buttons, each optional. */
export const templateParametersField = z.object(
  {
    body: parameterPart.optional(),
    header: parameterPart.optional(),
    buttons: z.record(buttonIndex, parameterPart, { error: BUTTONS_ERROR }).optional(),
  },
  { error: 'templateParameters must be an object' },
);

const leadingFields = { phoneNumber: phoneNumberField };
const commonFields = {
  provider: z.enum(PROVIDERS, { error: 'Invalid provider' }).optional(),
  senderId: nameField('The sender ID', 0, SENDER_ID_CHARACTERS_MAX).optional(),
  deliveryReport: deliveryReportField.optional(),
};
const optionalWhatsappFields = {
  whatsappAccountId: whatsappAccountId.optional(),
  whatsappPhoneId: whatsappPhoneId.optional(),
  templateName: templateName.optional(),
};

/** Specification 4.1: one of three shapes, chosen by `smsType`. */
export const sendBody = z.discriminatedUnion(
  'smsType',
  [
    z.object({
      ...leadingFields,
      smsType: z.literal('verification'),
      verificationCode: nameField('verificationCode', 1, VERIFICATION_CODE_CHARACTERS_MAX),
      ...commonFields,
      ...optionalWhatsappFields,
    }),
    z.object({
      ...leadingFields,
      smsType: z.literal('custom'),
      customMessage: textField('customMessage', 1, CUSTOM_MESSAGE_CHARACTERS_MAX),
      ...commonFields,
      ...optionalWhatsappFields,
    }),
    z.object({
      ...leadingFields,
      smsType: z.literal('whatsapp-template'),
      templateName,
      whatsappAccountId,
      whatsappPhoneId,
      templateParameters: templateParametersField.optional(),
      ...commonFields,
    }),
  ],
  { error: ({ input }) => shapeError(input) },
);

export type SendBody = z.output<typeof sendBody>;

/** The request as the use case takes it; defaults are filled in here and nowhere else. */
export function toSendRequest(body: SendBody): SendRequest {
  return {
    phoneNumber: canonicalPhoneNumber(body.phoneNumber as PhoneNumber),
    phoneNumberAsSent: body.phoneNumber,
    provider: body.provider ?? 'auto',
    senderId: body.senderId ?? null,
    content: contentOf(body),
    whatsappSender: {
      accountId: body.whatsappAccountId ?? null,
      phoneId: body.whatsappPhoneId ?? null,
      templateName: body.templateName ?? null,
    },
    deliveryReport: body.deliveryReport === undefined ? null : deliveryReportOf(body.deliveryReport),
  };
}

function contentOf(body: SendBody): SendRequest['content'] {
  switch (body.smsType) {
    case 'verification':
      return { smsType: body.smsType, verificationCode: body.verificationCode };
    case 'custom':
      return { smsType: body.smsType, customMessage: body.customMessage };
    case 'whatsapp-template':
      return {
        smsType: body.smsType,
        templateName: body.templateName,
        templateParameters: (body.templateParameters ?? {}) as TemplateParameters,
      };
    default:
      return body satisfies never;
  }
}

function deliveryReportOf(given: NonNullable<SendBody['deliveryReport']>): DeliveryReport {
  return {
    webhookUrl: given.webhookUrl,
    deliveryReportType: given.deliveryReportType,
    webhookSecret: given.webhookSecret ?? null,
  };
}

/** Without a valid `smsType` no shape is known; the phone number is still checked first, as in every shape. */
function shapeError(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return BODY_ERROR;
  }
  const given: { phoneNumber?: unknown } = input;
  if (!phoneNumberField.safeParse(given.phoneNumber).success) return PHONE_ERROR;
  return `Invalid sms type, use one of ${SMS_TYPES.join(', ')}`;
}
