import { z } from 'zod';
import {
  BILLING_STATUSES,
  billingStatusOf,
  CAMPAIGN_CATEGORIES,
  CAMPAIGN_NAME_CHARACTERS_MAX,
  CAMPAIGN_NAME_CHARACTERS_MIN,
  CAMPAIGN_STATUSES,
  type Campaign,
  SCHEDULE_TYPES,
  scheduleTypeOf,
} from '../../../domain/campaigns/campaign.ts';
import type { PlanRequest } from '../../../domain/campaigns/plan-campaign.ts';
import type { Preflight } from '../../../domain/campaigns/preflight.ts';
import {
  BILLING_STATES,
  type NewRecipient,
  RECIPIENT_STATUSES,
  type Recipient,
  smsIdOf,
} from '../../../domain/campaigns/recipient.ts';
import { recipientPayload } from '../../../domain/campaigns/recipient-payload.ts';
import { SMS_ID_PATTERN } from '../../../domain/messages/message.ts';
import { toIqd } from '../../../domain/shared/money.ts';
import { canonicalPhoneNumber, type PhoneNumber } from '../../../domain/shared/phone-number.ts';
import type { TemplateParameters } from '../../../domain/whatsapp/template-parameters.ts';
import type { WhatsappTemplate } from '../../../domain/whatsapp/whatsapp-resources.ts';
import { RECIPIENTS_PER_REQUEST_MAX } from '../limits.ts';
import { ERROR_CODES } from '../routing/error-codes.ts';
import { rejectionError } from '../routing/known-errors.ts';
import { nameField } from '../routing/text-fields.ts';
import { BODY_ERROR, phoneNumberField, templateParametersField } from './send-body.ts';

const ID_PATTERN = /^[a-fA-F0-9]{24}$/;
const SCHEDULED_FOR_ERROR = 'scheduledFor must be an ISO 8601 date and time with its offset';
const LATEST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');
const RECIPIENTS_ERROR = `recipients must be a list of 1 to ${RECIPIENTS_PER_REQUEST_MAX} recipients`;
const TOO_MANY_ERROR = `Recipients cannot exceed ${RECIPIENTS_PER_REQUEST_MAX} per request`;

/** One of our ids in either case of letters. */
export function idField(name: string) {
  const error = `${name} must be 24 hex characters`;
  return z.string({ error }).regex(ID_PATTERN, { error });
}

const name = nameField('name', CAMPAIGN_NAME_CHARACTERS_MIN, CAMPAIGN_NAME_CHARACTERS_MAX);
const templateId = idField('templateId');
const phoneNumberId = idField('phoneNumberId');
const schedule = {
  scheduleType: z.enum(SCHEDULE_TYPES, { error: 'scheduleType must be now or schedule' }).optional(),
  scheduledFor: z.iso
    .datetime({ offset: true, error: SCHEDULED_FOR_ERROR })
    // The offset may move it beyond what ISO 8601 writes with four digits of the year.
    .refine((text) => Date.parse(text) <= LATEST_INSTANT, { error: SCHEDULED_FOR_ERROR })
    .optional(),
};

/** Specification 4.10. */
export const createBody = z.object({ name, templateId, phoneNumberId, ...schedule }, { error: BODY_ERROR });

/** Specification 4.11. The category is checked and then the template's. */
export const updateBody = z.object(
  {
    name: name.optional(),
    templateId: templateId.optional(),
    phoneNumberId: phoneNumberId.optional(),
    category: z.enum(CAMPAIGN_CATEGORIES, { error: 'category must be MARKETING or UTILITY' }).optional(),
    ...schedule,
  },
  { error: BODY_ERROR },
);

const newRecipient = z.object(
  { phoneNumber: phoneNumberField, templateParameters: templateParametersField.optional() },
  { error: 'Each recipient must be an object with a phoneNumber' },
);

/** Specification 4.15 and 4.16. */
export const recipientsBody = z.object(
  {
    recipients: z
      .array(newRecipient, { error: RECIPIENTS_ERROR })
      .min(1, { error: RECIPIENTS_ERROR })
      .max(RECIPIENTS_PER_REQUEST_MAX, { error: TOO_MANY_ERROR }),
  },
  { error: BODY_ERROR },
);

const text = z.string();
const count = z.int().min(0);
const amount = z.number().min(0);
const instant = z.iso.datetime();

/** Specification 2.2. */
export const campaignSchema = z.object({
  _id: text.regex(ID_PATTERN),
  campaignId: text,
  name: text,
  status: z.enum(CAMPAIGN_STATUSES),
  category: z.enum(CAMPAIGN_CATEGORIES),
  template: text,
  phoneNumber: text,
  scheduleType: z.enum(SCHEDULE_TYPES),
  scheduledFor: instant.optional(),
  startedAt: instant.optional(),
  completedAt: instant.optional(),
  totalRecipients: count,
  sentCount: count,
  deliveredCount: count,
  failedCount: count,
  estimatedTotalCost: amount,
  reservedAmount: amount,
  reconciledAmount: amount,
  billingStatus: z.enum(BILLING_STATUSES),
  errorMessage: text.optional(),
  isSampleCampaign: z.boolean(),
  sampleOfCampaign: text.optional(),
  createdAt: instant,
  updatedAt: instant,
});

/** Specification 2.3. */
export const recipientSchema = z.object({
  _id: text,
  phoneNumber: text,
  status: z.enum(RECIPIENT_STATUSES),
  smsId: text.regex(SMS_ID_PATTERN).optional(),
  templateParameters: templateParametersField.required(),
  estimatedCost: amount,
  finalCost: amount.optional(),
  billingState: z.enum(BILLING_STATES),
  errorMessage: text.optional(),
  sentAt: instant.optional(),
  deliveredAt: instant.optional(),
  readAt: instant.optional(),
  failedAt: instant.optional(),
});

export const sampleSchema = campaignSchema.pick({
  _id: true,
  name: true,
  campaignId: true,
  status: true,
  totalRecipients: true,
  createdAt: true,
});

export const paginationSchema = z.object({
  total: count,
  pages: z.int().min(1),
  page: z.int().min(1),
  limit: z.int().min(1),
});

/** What `POST /whatsapp/campaigns/{_id}/preflight` tells. */
export const preflightSchema = z.object({
  canStart: z.boolean(),
  problems: z.array(
    z.object({ code: z.enum(ERROR_CODES), error: text, phoneNumbers: z.array(text).optional() }),
  ),
  totalRecipients: count,
  estimatedTotalCost: amount,
  credit: amount,
  creditAfterStart: amount,
  messagesPerSecond: count.optional(),
  dailyLimit: count.optional(),
  durationSeconds: amount,
});

/** Specification 4.17. */
export const payloadSchema = z.object({
  template: z.object({ id: text, name: text, language: text, category: text }),
  fields: z.array(
    z.object({
      key: text,
      label: text,
      required: z.boolean(),
      example: text,
      templateParametersPath: text,
    }),
  ),
  exampleRecipient: z.object({
    phoneNumber: text,
    templateParameters: templateParametersField.required(),
  }),
});

/** The request as the use case takes it; what is left out is null. */
export function toPlanRequest(body: Omit<z.output<typeof updateBody>, 'category'>): PlanRequest {
  return {
    name: body.name ?? null,
    templateId: body.templateId?.toLowerCase() ?? null,
    phoneNumberId: body.phoneNumberId?.toLowerCase() ?? null,
    scheduleType: body.scheduleType ?? null,
    scheduledFor: body.scheduledFor === undefined ? null : Date.parse(body.scheduledFor),
  };
}

export function toNewRecipients({ recipients }: z.output<typeof recipientsBody>): readonly NewRecipient[] {
  return recipients.map(({ phoneNumber, templateParameters }) => ({
    phoneNumber: canonicalPhoneNumber(phoneNumber as PhoneNumber),
    phoneNumberAsSent: phoneNumber,
    templateParameters: (templateParameters ?? {}) as TemplateParameters,
  }));
}

export function presentCampaign(campaign: Campaign): z.input<typeof campaignSchema> {
  return {
    _id: campaign.id,
    campaignId: campaign.id,
    name: campaign.name,
    status: campaign.status,
    category: campaign.category,
    template: campaign.templateId,
    phoneNumber: campaign.phoneNumberId,
    scheduleType: scheduleTypeOf(campaign),
    ...instants({
      scheduledFor: campaign.scheduledFor,
      startedAt: campaign.startedAt,
      completedAt: campaign.completedAt,
    }),
    totalRecipients: campaign.totalRecipients,
    sentCount: campaign.sentCount,
    deliveredCount: campaign.deliveredCount,
    failedCount: campaign.failedCount,
    estimatedTotalCost: toIqd(campaign.estimatedCost),
    reservedAmount: toIqd(campaign.reserved),
    reconciledAmount: toIqd(campaign.captured),
    billingStatus: billingStatusOf(campaign),
    ...(campaign.failureReason === null ? {} : { errorMessage: campaign.failureReason }),
    isSampleCampaign: campaign.sampleOf !== null,
    ...(campaign.sampleOf === null ? {} : { sampleOfCampaign: campaign.sampleOf }),
    createdAt: iso(campaign.createdAt),
    updatedAt: iso(campaign.updatedAt),
  };
}

export function presentSample(campaign: Campaign): z.input<typeof sampleSchema> {
  const { _id, name: sampleName, campaignId, status, totalRecipients, createdAt } = presentCampaign(campaign);
  return { _id, name: sampleName, campaignId, status, totalRecipients, createdAt };
}

/** A recipient has a message once its campaign has started. */
export function presentRecipient(recipient: Recipient, hasStarted: boolean): z.input<typeof recipientSchema> {
  return {
    _id: recipient.id,
    phoneNumber: recipient.phoneNumberAsSent,
    status: recipient.status,
    ...(hasStarted ? { smsId: smsIdOf(recipient.id) } : {}),
    templateParameters: presentParameters(recipient.templateParameters),
    estimatedCost: toIqd(recipient.estimatedCost),
    ...(recipient.finalCost === null ? {} : { finalCost: toIqd(recipient.finalCost) }),
    billingState: recipient.billingState,
    ...(recipient.errorMessage === null ? {} : { errorMessage: recipient.errorMessage }),
    ...instants({
      sentAt: recipient.sentAt,
      deliveredAt: recipient.deliveredAt,
      readAt: recipient.readAt,
      failedAt: recipient.failedAt,
    }),
  };
}

export function presentPayload(template: WhatsappTemplate): z.input<typeof payloadSchema> {
  const { id, name: templateName, language, category } = template;
  const { fields, exampleRecipient } = recipientPayload(template);
  return {
    template: { id, name: templateName, language, category },
    fields: fields.map((field) => ({ ...field })),
    exampleRecipient: {
      phoneNumber: exampleRecipient.phoneNumber,
      templateParameters: presentParameters(exampleRecipient.templateParameters),
    },
  };
}

export function presentPreflight(found: Preflight): z.input<typeof preflightSchema> {
  const problems = found.rejections.map((rejection) => {
    const { code, text: error } = rejectionError(rejection);
    return { code, error, ...numbersOf(rejection) };
  });
  return {
    canStart: problems.length === 0,
    problems,
    totalRecipients: found.recipients,
    estimatedTotalCost: toIqd(found.cost),
    credit: toIqd(found.credit),
    creditAfterStart: toIqd(found.creditLeft),
    ...(found.messagesPerSecond === null ? {} : { messagesPerSecond: found.messagesPerSecond }),
    ...(found.dailyLimit === null ? {} : { dailyLimit: found.dailyLimit }),
    durationSeconds: found.durationMs / 1_000,
  };
}

/** The recipients that a problem is about, when it is about some of them. */
function numbersOf(rejection: Preflight['rejections'][number]): { readonly phoneNumbers?: string[] } {
  switch (rejection.kind) {
    case 'unsupported-numbers':
      return { phoneNumbers: [...rejection.phoneNumbers] };
    case 'recipient-parameters':
      return { phoneNumbers: [rejection.phoneNumber] };
    default:
      return {};
  }
}

/** All three parts, in a copy that the reply may own. */
function presentParameters({ body = {}, header = {}, buttons = {} }: TemplateParameters) {
  const copied = Object.entries(buttons).map(([index, values]) => [index, { ...values }] as const);
  return { body: { ...body }, header: { ...header }, buttons: Object.fromEntries(copied) };
}

/** Those that have happened, or will, in ISO 8601. */
function instants<Name extends string>(given: Readonly<Record<Name, number | null>>) {
  const known = Object.entries<number | null>(given).filter((entry) => entry[1] !== null);
  return Object.fromEntries(known.map(([key, at]) => [key, iso(at as number)])) as Partial<
    Record<Name, string>
  >;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
