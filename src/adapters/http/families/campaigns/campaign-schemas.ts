import { z } from 'zod';
import { BILLING_STATUSES } from '../../../../domain/campaigns/campaign.ts';
import { BILLING_STATES, RECIPIENT_STATUSES } from '../../../../domain/campaigns/recipient.ts';
import { SMS_ID_PATTERN } from '../../../../domain/messages/message.ts';
import { CAMPAIGN_LIMIT_DEFAULT } from '../../limits.ts';
import { parameterParts } from '../messages/send-body.ts';
import {
  ANY_CASE_ID_PATTERN,
  campaignStatus,
  category,
  idOfCampaign,
  idOfTemplate,
  scheduleType,
} from './campaign-requests.ts';

/** The examples belong together: a campaign in two states, a recipient and a sample of it. */
const DRAFT = {
  _id: '01b8dac5def829a7c1e201ab',
  campaignId: '01b8dac5def829a7c1e201ab',
  name: 'Orders of May',
  status: 'draft',
  category: 'UTILITY',
  template: '664def456abc789012345603',
  phoneNumber: '664def456abc789012345678',
  scheduleType: 'now',
  totalRecipients: 2,
  sentCount: 0,
  deliveredCount: 0,
  failedCount: 0,
  estimatedTotalCost: 120,
  reservedAmount: 0,
  reconciledAmount: 0,
  billingStatus: 'pending',
  isSampleCampaign: false,
  createdAt: '2030-01-01T00:00:11.000Z',
  updatedAt: '2030-01-01T00:00:14.000Z',
};
const COMPLETED = {
  ...DRAFT,
  status: 'completed',
  startedAt: '2030-01-01T00:00:17.000Z',
  completedAt: '2030-01-01T00:00:17.000Z',
  sentCount: 2,
  deliveredCount: 2,
  reservedAmount: 120,
  reconciledAmount: 120,
  billingStatus: 'reconciled',
  updatedAt: '2030-01-01T00:00:18.000Z',
};
const DELIVERED = {
  _id: '01b8dac5eab0608d6777a692',
  phoneNumber: '9647701234567',
  status: 'delivered',
  smsId: 'sms-01b8dac5eab0608d6777a692',
  templateParameters: { body: { 1: 'Layla', 2: 'A-17' }, header: {}, buttons: { 0: { 1: 'A-17' } } },
  estimatedCost: 60,
  finalCost: 60,
  billingState: 'charged',
  sentAt: '2030-01-01T00:00:17.000Z',
  deliveredAt: '2030-01-01T00:00:18.000Z',
};
const SAMPLE = {
  _id: '01b8dac5f280f22c42b981ef',
  name: 'Orders of May (sample)',
  campaignId: '01b8dac5f280f22c42b981ef',
  status: 'completed',
  totalRecipients: 1,
  createdAt: '2030-01-01T00:00:16.000Z',
};

const text = z.string();
const count = z.int().min(0);
const amount = z.number().min(0);
const instant = z.iso.datetime();
const success = z.literal(true).meta({ description: 'Always true' });

const recipientStatus = z.enum(RECIPIENT_STATUSES).meta({
  id: 'RecipientStatus',
  description: '`queued` until whatsapp has taken the message, then that of the message',
  examples: ['delivered'],
});

/** Specification 2.2. */
export const campaignSchema = z
  .object({
    _id: text
      .regex(ANY_CASE_ID_PATTERN)
      .meta({ description: 'The id of the campaign', examples: idOfCampaign.examples }),
    campaignId: text.meta({ description: 'The same as `_id`', examples: idOfCampaign.examples }),
    name: text.meta({
      description: 'Its name; of a sample campaign that of its parent, followed by ` (sample)`',
      examples: ['Orders of May'],
    }),
    status: campaignStatus,
    category,
    template: text.meta({ description: 'The `id` of the template', examples: idOfTemplate.examples }),
    phoneNumber: text.meta({
      description: 'The `id` of the whatsapp number that it is sent from',
      examples: ['664def456abc789012345678'],
    }),
    scheduleType,
    scheduledFor: instant
      .meta({
        description: 'When it starts; present with `schedule`',
        examples: ['2030-06-01T06:00:00.000Z'],
      })
      .optional(),
    startedAt: instant
      .meta({ description: 'Present from the start on', examples: ['2030-01-01T00:00:17.000Z'] })
      .optional(),
    completedAt: instant
      .meta({
        description: 'When it became `completed` or `failed`; absent before',
        examples: ['2030-01-01T00:00:17.000Z'],
      })
      .optional(),
    totalRecipients: count.meta({ description: 'How many recipients it has', examples: [2] }),
    sentCount: count.meta({
      description: 'Recipients that are `sent`, `delivered` or `read`',
      examples: [2],
    }),
    deliveredCount: count.meta({ description: 'Recipients that are `delivered` or `read`', examples: [2] }),
    failedCount: count.meta({ description: 'Recipients that are `failed`', examples: [0] }),
    estimatedTotalCost: amount.meta({
      description: 'IQD: the sum of `estimatedCost` over the recipients',
      examples: [120],
    }),
    reservedAmount: amount.meta({ description: 'IQD: what the start held; 0 before', examples: [120] }),
    reconciledAmount: amount.meta({ description: 'IQD: what was captured of it so far', examples: [120] }),
    billingStatus: z.enum(BILLING_STATUSES).meta({
      id: 'BillingStatus',
      description:
        '`pending` before the start, `reserved` while a recipient is `reserved`, then `reconciled`, or `released` when nothing was captured',
      examples: ['reconciled'],
    }),
    errorMessage: text
      .meta({
        description: 'Why it failed; present when it is `failed`',
        examples: ['The credit of the project does not suffice'],
      })
      .optional(),
    isSampleCampaign: z
      .boolean()
      .meta({ description: 'Whether it is the sample of another campaign', examples: [false] }),
    sampleOfCampaign: text
      .meta({
        description: 'The `_id` of the parent; present in a sample campaign',
        examples: idOfCampaign.examples,
      })
      .optional(),
    createdAt: instant.meta({ description: 'When it was created', examples: ['2030-01-01T00:00:11.000Z'] }),
    updatedAt: instant.meta({
      description: 'The last change, of counts and amounts too',
      examples: ['2030-01-01T00:00:18.000Z'],
    }),
  })
  .meta({
    id: 'Campaign',
    description: 'One whatsapp template for many phone numbers',
    examples: [COMPLETED],
  });

/** Specification 2.3. */
export const recipientSchema = z
  .object({
    _id: text.meta({ description: 'The id of the recipient', examples: ['01b8dac5eab0608d6777a692'] }),
    phoneNumber: text.meta({ description: 'As it was attached', examples: ['9647701234567'] }),
    status: recipientStatus,
    smsId: text
      .regex(SMS_ID_PATTERN)
      .meta({
        description: 'Its message, for tracking; present once the campaign has started',
        examples: ['sms-01b8dac5eab0608d6777a692'],
      })
      .optional(),
    templateParameters: z.object(parameterParts).meta({
      id: 'RecipientParameters',
      description: 'The values for the placeholders of the template, always with the three parts',
    }),
    estimatedCost: amount.meta({ description: "IQD: the price of the template's category", examples: [60] }),
    finalCost: amount
      .meta({ description: 'IQD: what was captured; present once the hold is resolved', examples: [60] })
      .optional(),
    billingState: z.enum(BILLING_STATES).meta({
      id: 'BillingState',
      description:
        '`pending` before the start, then `reserved`, then `charged` when it was delivered, or `released` when it failed or nothing was reported',
      examples: ['charged'],
    }),
    errorMessage: text
      .meta({
        description: 'Why the message failed; present when it is `failed` and a reason is known',
        examples: ['The number has no whatsapp account'],
      })
      .optional(),
    sentAt: instant
      .meta({ description: 'Present once it has happened', examples: ['2030-01-01T00:00:17.000Z'] })
      .optional(),
    deliveredAt: instant
      .meta({
        description:
          'Present once it has happened; of a message that is read without a delivered receipt the same as `readAt`',
        examples: ['2030-01-01T00:00:18.000Z'],
      })
      .optional(),
    readAt: instant
      .meta({ description: 'Present once it has happened', examples: ['2030-01-01T00:01:00.000Z'] })
      .optional(),
    failedAt: instant
      .meta({ description: 'Present once it has happened', examples: ['2030-01-01T00:00:18.000Z'] })
      .optional(),
  })
  .meta({ id: 'CampaignRecipient', description: 'One phone number of a campaign', examples: [DELIVERED] });

export const sampleSchema = campaignSchema
  .pick({ _id: true, name: true, campaignId: true, status: true, totalRecipients: true, createdAt: true })
  .meta({ id: 'LinkedSampleCampaign', description: 'A sample campaign of a campaign', examples: [SAMPLE] });

const paginationSchema = z
  .object({
    total: count.meta({ description: 'How many match, of all pages', examples: [2] }),
    pages: z
      .int()
      .min(1)
      .meta({ description: 'How many pages there are', examples: [1] }),
    page: z
      .int()
      .min(1)
      .meta({ description: 'As asked', examples: [1] }),
    limit: z
      .int()
      .min(1)
      .meta({ description: 'As asked', examples: [CAMPAIGN_LIMIT_DEFAULT] }),
  })
  .meta({ id: 'Pagination', description: 'Which page this is' });

export const campaignPage = z
  .object({
    success,
    data: z.array(campaignSchema).meta({ description: 'The newest first, sample campaigns among them' }),
    pagination: paginationSchema,
  })
  .meta({ id: 'CampaignPage', description: 'One page of the campaigns of the project' });

export const campaignReply = z
  .object({ success, data: campaignSchema })
  .meta({ id: 'CampaignReply', description: 'A campaign' });

/** Specification 4.16. */
export const attachReply = z
  .object({
    success,
    data: campaignSchema
      .extend({
        addedCount: count.meta({ description: 'Recipients that were added', examples: [2] }),
        skippedCount: count.meta({ description: 'Numbers that were on the campaign already', examples: [0] }),
        duplicateCount: count.meta({
          description: 'Entries whose number comes earlier in the request: they are dropped',
          examples: [0],
        }),
      })
      .meta({
        id: 'AttachedCampaign',
        description: 'The campaign, and how many of the recipients were added',
        examples: [{ ...DRAFT, addedCount: 2, skippedCount: 0, duplicateCount: 0 }],
      }),
  })
  .meta({ id: 'AttachReply', description: 'The campaign, and how many of the recipients were added' });

/** Specification 4.13. */
export const deletedReply = z
  .object({ success, data: z.object({}).meta({ description: 'Empty' }) })
  .meta({ id: 'DeletedReply', description: 'The campaign is gone' });

export const campaignDetail = z
  .object({
    success,
    data: campaignSchema
      .extend({
        recipients: z
          .array(recipientSchema)
          .meta({ description: 'One page of them, in the order they were attached in' }),
        linkedSampleCampaigns: z
          .array(sampleSchema)
          .meta({ description: 'Its sample campaigns, the newest first' }),
        pagination: paginationSchema.meta({ description: 'Which page of the recipients this is' }),
      })
      .meta({
        id: 'CampaignDetail',
        description: 'A campaign with one page of its recipients',
        examples: [
          {
            ...COMPLETED,
            recipients: [DELIVERED],
            linkedSampleCampaigns: [SAMPLE],
            pagination: { total: 2, pages: 2, page: 1, limit: 1 },
          },
        ],
      }),
  })
  .meta({ id: 'CampaignDetailReply', description: 'A campaign with one page of its recipients' });
