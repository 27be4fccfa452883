import { z } from 'zod';
import {
  CAMPAIGN_CATEGORIES,
  CAMPAIGN_NAME_CHARACTERS_MAX,
  CAMPAIGN_NAME_CHARACTERS_MIN,
  CAMPAIGN_STATUSES,
  SCHEDULE_TYPES,
} from '../../../../domain/campaigns/campaign.ts';
import type { PlanRequest } from '../../../../domain/campaigns/plan-campaign.ts';
import { type NewRecipient, RECIPIENT_STATUSES } from '../../../../domain/campaigns/recipient.ts';
import { canonicalPhoneNumber, type PhoneNumber } from '../../../../domain/shared/phone-number.ts';
import type { TemplateParameters } from '../../../../domain/whatsapp/template-parameters.ts';
import { BODY_ERROR } from '../../input/body-error.ts';
import { phoneNumberField } from '../../input/phone-number-field.ts';
import { wholeNumber } from '../../input/query-fields.ts';
import { nameField } from '../../input/text-fields.ts';
import {
  CAMPAIGN_LIMIT_DEFAULT,
  CAMPAIGN_LIMIT_MAX,
  CAMPAIGN_PAGE_MAX,
  LATEST_INSTANT_MS,
  RECIPIENT_LIMIT_DEFAULT,
  RECIPIENT_LIMIT_MAX,
  RECIPIENTS_PER_REQUEST_MAX,
} from '../../limits.ts';
import { templateParametersField } from '../messages/send-body.ts';

/** Our ids, in either case of letters. */
export const ANY_CASE_ID_PATTERN = /^[a-fA-F0-9]{24}$/;
const SCHEDULED_FOR_ERROR = 'scheduledFor must be an ISO 8601 date and time with its offset';
const RECIPIENTS_ERROR = `recipients must be a list of 1 to ${RECIPIENTS_PER_REQUEST_MAX} recipients`;
const TOO_MANY_ERROR = `Recipients cannot exceed ${RECIPIENTS_PER_REQUEST_MAX} per request`;

/** One of our ids in either case of letters. */
export function idField(name: string) {
  const error = `${name} must be 24 hex characters`;
  return z.string({ error }).regex(ANY_CASE_ID_PATTERN, { error });
}

export const idOfCampaign = {
  description: 'The `_id` of a campaign',
  examples: ['01b8dac5def829a7c1e201ab'],
};
export const idOfTemplate = {
  description: 'The `id` of a template of the whatsapp resources',
  examples: ['664def456abc789012345603'],
};

const name = nameField('name', CAMPAIGN_NAME_CHARACTERS_MIN, CAMPAIGN_NAME_CHARACTERS_MAX).meta({
  description: 'The name of the campaign',
  examples: ['Orders of May'],
});
const templateId = idField('templateId').meta({
  description: `${idOfTemplate.description}, of the category \`MARKETING\` or \`UTILITY\``,
  examples: idOfTemplate.examples,
});
const phoneNumberId = idField('phoneNumberId').meta({
  description: 'The `id` of a phone number of the account that has the template',
  examples: ['664def456abc789012345678'],
});
export const category = z.enum(CAMPAIGN_CATEGORIES, { error: 'category must be MARKETING or UTILITY' }).meta({
  id: 'CampaignCategory',
  description: 'The category of the template, which decides the price',
  examples: ['UTILITY'],
});
export const scheduleType = z.enum(SCHEDULE_TYPES, { error: 'scheduleType must be now or schedule' }).meta({
  id: 'ScheduleType',
  description: '`schedule` for a campaign that starts at a time by itself, else `now`',
  examples: ['schedule'],
});
const schedule = {
  scheduleType: scheduleType.optional(),
  scheduledFor: z.iso
    .datetime({ offset: true, error: SCHEDULED_FOR_ERROR })
    // The offset may move it beyond what ISO 8601 writes with four digits of the year.
    .refine((text) => Date.parse(text) <= LATEST_INSTANT_MS, { error: SCHEDULED_FOR_ERROR })
    .meta({
      description:
        'When it starts: ISO 8601 date and time with its offset, in the future; required with `schedule`',
      examples: ['2030-06-01T09:00:00+03:00'],
    })
    .optional(),
};

/** The path of one campaign. */
export const campaignParams = z.object({ _id: idField('_id').meta(idOfCampaign) });

/** Specification 4.10. */
export const createBody = z
  .object({ name, templateId, phoneNumberId, ...schedule }, { error: BODY_ERROR })
  .meta({ id: 'CreateCampaignRequest', description: 'A campaign without recipients' });

/** Specification 4.11. The category is checked and then the template's. */
export const updateBody = z
  .object(
    {
      name: name.optional(),
      templateId: templateId.optional(),
      phoneNumberId: phoneNumberId.optional(),
      category: category
        .meta({ description: 'It is checked and has no effect: the template decides' })
        .optional(),
      ...schedule,
    },
    { error: BODY_ERROR },
  )
  .meta({
    id: 'UpdateCampaignRequest',
    description: 'What changes; what is left out stays as it is',
    examples: [{ name: 'Orders of July', scheduledFor: '2030-07-01T06:00:00Z' }],
  });

const newRecipient = z
  .object(
    { phoneNumber: phoneNumberField, templateParameters: templateParametersField.optional() },
    { error: 'Each recipient must be an object with a phoneNumber' },
  )
  .meta({ id: 'NewRecipient', description: 'Who gets the template, with the values of its placeholders' });

/** Specification 4.15 and 4.16. */
export const recipientsBody = z
  .object(
    {
      recipients: z
        .array(newRecipient, { error: RECIPIENTS_ERROR })
        .min(1, { error: RECIPIENTS_ERROR })
        .max(RECIPIENTS_PER_REQUEST_MAX, { error: TOO_MANY_ERROR })
        .meta({ description: 'The recipients; a phone number that comes twice counts once' }),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'RecipientsRequest', description: 'Recipients of a campaign' });

export const campaignStatus = z
  .enum(CAMPAIGN_STATUSES, { error: `status must be one of ${CAMPAIGN_STATUSES.join(', ')}` })
  .meta({
    id: 'CampaignStatus',
    description:
      'A campaign is `draft` or `scheduled` until it starts. It is `running` until no recipient is `queued`, then `completed` or `failed`.',
    examples: ['completed'],
  });
const page = wholeNumber('page', 1, CAMPAIGN_PAGE_MAX)
  .default(1)
  .meta({ description: 'The page, from 1 on', examples: [1] });

/** Specification 4.9. */
export const listQuery = z.object({
  status: campaignStatus.meta({ description: 'Only campaigns of this status' }).optional(),
  page,
  limit: wholeNumber('limit', 1, CAMPAIGN_LIMIT_MAX)
    .default(CAMPAIGN_LIMIT_DEFAULT)
    .meta({ description: 'Campaigns of a page', examples: [CAMPAIGN_LIMIT_DEFAULT] }),
});

const onlyStatus = (field: string) =>
  z
    .enum(RECIPIENT_STATUSES, { error: `${field} must be one of ${RECIPIENT_STATUSES.join(', ')}` })
    .optional();
const partOfNumber = (field: string) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, { error: `${field} must be 1 to 15 digits` })
    .optional();

/** Specification 4.12. */
export const detailQuery = z.object({
  page,
  limit: wholeNumber('limit', 1, RECIPIENT_LIMIT_MAX)
    .default(RECIPIENT_LIMIT_DEFAULT)
    .meta({ description: 'Recipients of a page', examples: [RECIPIENT_LIMIT_DEFAULT] }),
  status: onlyStatus('status').meta({ description: 'Only recipients of this status', examples: ['failed'] }),
  recipientStatus: onlyStatus('recipientStatus').meta({
    description: 'The same as `status`, when there is none',
    examples: ['failed'],
  }),
  search: partOfNumber('search').meta({
    description: 'Only recipients with these digits in their phone number',
    examples: ['77012'],
  }),
  phoneNumber: partOfNumber('phoneNumber').meta({
    description: 'The same as `search`, when there is none',
    examples: ['77012'],
  }),
});

/** Specification 4.17. */
export const payloadQuery = z.object({
  templateId: idField('templateId').meta(idOfTemplate).optional(),
  _id: idField('_id')
    .meta({ ...idOfCampaign, description: 'The `_id` of a campaign: its template' })
    .optional(),
  campaignId: idField('campaignId')
    .meta({ ...idOfCampaign, description: 'The same as `_id`' })
    .optional(),
});

/** A request as the use case takes it; what is left out is null. */
export function toPlanRequest(body: Omit<z.output<typeof updateBody>, 'category'>): PlanRequest {
  return {
    name: body.name ?? null,
    templateId: body.templateId?.toLowerCase() ?? null,
    whatsappPhoneId: body.phoneNumberId?.toLowerCase() ?? null,
    scheduleType: body.scheduleType ?? null,
    scheduledFor: body.scheduledFor === undefined ? null : Date.parse(body.scheduledFor),
  };
}

/** The recipients of a request as the use cases take them. */
export function toNewRecipients({ recipients }: z.output<typeof recipientsBody>): readonly NewRecipient[] {
  return recipients.map(({ phoneNumber, templateParameters }) => ({
    phoneNumber: canonicalPhoneNumber(phoneNumber as PhoneNumber),
    phoneNumberAsSent: phoneNumber,
    templateParameters: (templateParameters ?? {}) as TemplateParameters,
  }));
}
