import { z } from 'zod';
import { PROVIDER_VALUES } from '../../../../domain/messages/provider-value.ts';
import {
  CUSTOM_MESSAGE_CHARACTERS_MAX,
  type DeliveryReport,
  SENDER_ID_CHARACTERS_MAX,
  type SendRequest,
  SMS_TYPES,
  VERIFICATION_CODE_CHARACTERS_MAX,
} from '../../../../domain/messages/send-request.ts';
import { canonicalPhoneNumber, type PhoneNumber } from '../../../../domain/shared/phone-number.ts';
import { isJsonObject } from '../../../../domain/shared/same-json.ts';
import type { PlainSecret } from '../../../../domain/shared/sealed-secret.ts';
import { isStorableLine } from '../../../../domain/shared/storable-text.ts';
import {
  parametersBytes,
  TEMPLATE_PARAMETERS_BYTES_MAX,
  type TemplateParameters,
} from '../../../../domain/whatsapp/template-parameters.ts';
import { TEMPLATE_NAME_CHARACTERS_MAX } from '../../../../domain/whatsapp/text-limits.ts';
import { BODY_ERROR } from '../../input/body-error.ts';
import { phoneNumberField } from '../../input/phone-number-field.ts';
import { nameField, textField } from '../../input/text-fields.ts';
import { TEMPLATE_PARAMETER_CHARACTERS_MAX, WHATSAPP_ID_CHARACTERS_MAX } from '../../limits.ts';
import { deliveryReportField } from './delivery-report-field.ts';

const PARAMETER_KEY_ERROR = 'templateParameters may have keys of letters, digits and underscores only';
const PARAMETER_PART_ERROR = 'Each part of templateParameters must be an object';
const PARAMETERS_BYTES_ERROR = `templateParameters cannot exceed ${TEMPLATE_PARAMETERS_BYTES_MAX / 1_024} kB`;
const BUTTONS_ERROR = 'templateParameters.buttons must be an object with the keys 0 to 99';
const PARAMETER_VALUE_ERROR = 'templateParameters values must be strings or numbers';
/** A JSON number beyond it loses digits on its way. */
const LARGE_NUMBER_ERROR = `templateParameters numbers beyond ${Number.MAX_SAFE_INTEGER} must be strings`;

const whatsappAccountId = nameField('whatsappAccountId', 1, WHATSAPP_ID_CHARACTERS_MAX).meta({
  description: 'The `id` of a whatsapp account of the project',
  examples: ['664def456abc789012345602'],
});
const whatsappPhoneId = nameField('whatsappPhoneId', 1, WHATSAPP_ID_CHARACTERS_MAX).meta({
  description: 'The `id` of a phone number of that account',
  examples: ['664def456abc789012345678'],
});
const templateName = nameField('templateName', 1, TEMPLATE_NAME_CHARACTERS_MAX).meta({
  description: 'The `name` of an approved template of the account',
  examples: ['order_update'],
});

const parameterValue = z.union(
  [
    textField('A template parameter', 0, TEMPLATE_PARAMETER_CHARACTERS_MAX),
    z.number().refine((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER, { error: LARGE_NUMBER_ERROR }),
  ],
  { error: PARAMETER_VALUE_ERROR },
);
const PARAMETER_KEY_PATTERN = /^[A-Za-z0-9_]{1,64}$/;
const parameterKey = z.string().regex(PARAMETER_KEY_PATTERN);
const parameterPart = z.record(parameterKey, parameterValue, {
  error: ({ code }) => (code === 'invalid_key' ? PARAMETER_KEY_ERROR : PARAMETER_PART_ERROR),
});
const buttonIndex = z.string().regex(/^[0-9]{1,2}$/);

/** The parts of `templateParameters`. */
export const parameterParts = {
  body: parameterPart.meta({
    description: 'The values of the text, by placeholder',
    examples: [{ 1: 'Layla', 2: 'A-17' }],
  }),
  header: parameterPart.meta({
    description:
      'The value of the header by placeholder, or `imageUrl`, `videoUrl` or `documentUrl` for a header of that kind',
    examples: [{}],
  }),
  buttons: z.record(buttonIndex, parameterPart, { error: BUTTONS_ERROR }).meta({
    description: 'The values of each button by placeholder; buttons are counted from 0',
    examples: [{ 0: { 1: 'A-17' } }],
  }),
};

/** Values for the placeholders of a template: body, header and buttons, each optional. */
export const templateParametersField = z
  .preprocess(
    withFirstMistakes,
    z
      .object(parameterParts, { error: 'templateParameters must be an object' })
      .partial()
      .refine((given) => parametersBytes(given as TemplateParameters) <= TEMPLATE_PARAMETERS_BYTES_MAX, {
        error: PARAMETERS_BYTES_ERROR,
      }),
  )
  .meta({
    id: 'TemplateParameters',
    description: `Values for the placeholders of the template, strings or numbers: exactly those that the template has, ${TEMPLATE_PARAMETERS_BYTES_MAX / 1_024} kB in all`,
    examples: [{ body: { 1: 'Layla', 2: 'A-17' }, buttons: { 0: { 1: 'A-17' } } }],
  });

const leadingFields = { phoneNumber: phoneNumberField };
const commonFields = {
  provider: z
    .enum(PROVIDER_VALUES, { error: `Invalid provider, use one of ${PROVIDER_VALUES.join(', ')}` })
    .meta({
      id: 'Provider',
      description:
        'The channels, in the order they are tried in; `auto` when it is left out. With `auto` a code goes over whatsapp, telegram, sms; a text over whatsapp, sms, or only sms with a sender ID; a template over whatsapp.',
      examples: ['whatsapp-sms'],
    })
    .optional(),
  senderId: nameField('The sender ID', 0, SENDER_ID_CHARACTERS_MAX)
    .meta({ description: 'An accepted sender ID of the project, which an sms shows', examples: ['Barid'] })
    .optional(),
  deliveryReport: deliveryReportField.optional(),
};
const smsTypeMeta = { description: 'What is sent' };
const optionalWhatsappFields = {
  whatsappAccountId: whatsappAccountId.optional(),
  whatsappPhoneId: whatsappPhoneId.optional(),
  templateName: templateName.optional(),
};

/** Specification 4.1: one of three shapes, chosen by `smsType`. */
export const sendBody = z
  .discriminatedUnion(
    'smsType',
    [
      z
        .object({
          ...leadingFields,
          smsType: z.literal('verification').meta(smsTypeMeta),
          verificationCode: nameField('verificationCode', 1, VERIFICATION_CODE_CHARACTERS_MAX).meta({
            description: 'The code; telegram carries codes of 4 to 8 digits only',
            examples: ['123456'],
          }),
          ...commonFields,
          ...optionalWhatsappFields,
        })
        .meta({
          id: 'VerificationRequest',
          description: "A code, in a short text of our own in the project's language",
          examples: [{ phoneNumber: '9647701234567', smsType: 'verification', verificationCode: '123456' }],
        }),
      z
        .object({
          ...leadingFields,
          smsType: z.literal('custom').meta(smsTypeMeta),
          customMessage: textField('customMessage', 1, CUSTOM_MESSAGE_CHARACTERS_MAX).meta({
            description: 'Your own text',
            examples: ['Your parcel is here.'],
          }),
          ...commonFields,
          ...optionalWhatsappFields,
        })
        .meta({
          id: 'CustomRequest',
          description: 'Your own text',
          examples: [
            {
              phoneNumber: '9647801234567',
              smsType: 'custom',
              customMessage: 'Your parcel is here.',
              senderId: 'Barid',
              deliveryReport: { webhookUrl: 'https://shop.example/barid', deliveryReportType: 'final' },
            },
          ],
        }),
      z
        .object({
          ...leadingFields,
          smsType: z.literal('whatsapp-template').meta(smsTypeMeta),
          templateName,
          whatsappAccountId,
          whatsappPhoneId,
          templateParameters: templateParametersField.optional(),
          ...commonFields,
        })
        .meta({
          id: 'TemplateRequest',
          description: 'An approved whatsapp template',
          examples: [
            {
              phoneNumber: '9647901234567',
              smsType: 'whatsapp-template',
              templateName: 'order_update',
              whatsappAccountId: '664def456abc789012345602',
              whatsappPhoneId: '664def456abc789012345678',
              templateParameters: { body: { 1: 'Layla', 2: 'A-17' }, buttons: { 0: { 1: 'A-17' } } },
            },
          ],
        }),
    ],
    { error: ({ input }) => shapeError(input) },
  )
  .meta({
    id: 'SendRequest',
    description: 'One message; `smsType` chooses its shape',
    discriminator: {
      propertyName: 'smsType',
      mapping: {
        verification: '#/components/schemas/VerificationRequest',
        custom: '#/components/schemas/CustomRequest',
        'whatsapp-template': '#/components/schemas/TemplateRequest',
      },
    },
  });

export type SendBody = z.output<typeof sendBody>;

/** The request as the use case takes it; defaults are filled in here and nowhere else. */
export function toSendRequest(body: SendBody): SendRequest<PlainSecret> {
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

function deliveryReportOf(given: NonNullable<SendBody['deliveryReport']>): DeliveryReport<PlainSecret> {
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
  const { error } = phoneNumberField.safeParse(given.phoneNumber);
  return error?.issues[0]?.message ?? `Invalid sms type, use one of ${SMS_TYPES.join(', ')}`;
}

/**
 * Of a part with mistakes the first one alone, which is what the reply names: the library takes some 5 µs for each, and a
 * request may have thousands.
 */
function withFirstMistakes(parameters: unknown): unknown {
  if (!isJsonObject(parameters)) return parameters;
  const { body, header, buttons } = parameters;
  return {
    ...parameters,
    ...(body === undefined ? {} : { body: withFirstMistake(body) }),
    ...(header === undefined ? {} : { header: withFirstMistake(header) }),
    ...(isJsonObject(buttons)
      ? {
          buttons: Object.fromEntries(
            Object.entries(buttons).map(([at, part]) => [at, withFirstMistake(part)]),
          ),
        }
      : {}),
  };
}

function withFirstMistake(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  for (const key of Object.keys(part)) {
    if (key !== '__proto__' && !isParameter(key, part[key])) return { [key]: part[key] };
  }
  return part;
}

/** The schema decides on what is not plainly one: a part loses its other parameters only when the schema rejects one. */
function isParameter(key: string, value: unknown): boolean {
  if (!PARAMETER_KEY_PATTERN.test(key)) return false;
  const isPlain =
    typeof value === 'string'
      ? value.length <= TEMPLATE_PARAMETER_CHARACTERS_MAX && isStorableLine(value)
      : Number.isFinite(value);
  return isPlain || parameterValue.safeParse(value).success;
}
