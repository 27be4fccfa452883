import type { z } from 'zod';
import { billingStatusOf, type Campaign, scheduleTypeOf } from '../../../../domain/campaigns/campaign.ts';
import type { Preflight } from '../../../../domain/campaigns/preflight.ts';
import { type Recipient, smsIdOf } from '../../../../domain/campaigns/recipient.ts';
import { recipientPayload } from '../../../../domain/campaigns/recipient-payload.ts';
import { isoOf } from '../../../../domain/shared/instant.ts';
import { toIqd } from '../../../../domain/shared/money.ts';
import type { TemplateParameters } from '../../../../domain/whatsapp/template-parameters.ts';
import type { WhatsappTemplate } from '../../../../domain/whatsapp/whatsapp-resources.ts';
import { rejectionError } from '../../replies/rejection-errors.ts';
import type { campaignSchema, recipientSchema, sampleSchema } from './campaign-schemas.ts';
import type { payloadSchema, preflightSchema } from './preflight-schemas.ts';

export function presentCampaign(campaign: Campaign): z.input<typeof campaignSchema> {
  return {
    _id: campaign.id,
    campaignId: campaign.id,
    name: campaign.name,
    status: campaign.status,
    category: campaign.category,
    template: campaign.templateId,
    phoneNumber: campaign.whatsappPhoneId,
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
    createdAt: isoOf(campaign.createdAt),
    updatedAt: isoOf(campaign.updatedAt),
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
  return Object.fromEntries(known.map(([key, at]) => [key, isoOf(at as number)])) as Partial<
    Record<Name, string>
  >;
}
