import { z } from 'zod';
import { ATTEMPT_STATES, SMS_ID_PATTERN } from '../../../../../domain/messages/message.ts';
import { MESSAGE_STATUSES } from '../../../../../domain/messages/message-status.ts';
import { SMS_TYPES } from '../../../../../domain/messages/send-request.ts';
import { CHANNELS } from '../../../../../domain/shared/channel.ts';
import { phoneNumberField } from '../../../input/phone-number-field.ts';
import {
  ID_EXAMPLE,
  INSTANT_EXAMPLE,
  instant,
  iqdAmount,
  nextOfShort,
  pageQuery,
  projectId,
} from '../shared-schemas.ts';
import { fromField, toField } from '../time-fields.ts';
import { eventSchema, webhookAttemptSchema } from '../webhooks/webhook-schemas.ts';

const SMS_ID_EXAMPLE = `sms-${ID_EXAMPLE}`;
const STATUS_ERROR = `status must be one of ${MESSAGE_STATUSES.join(', ')}`;

const smsId = z
  .string()
  .regex(SMS_ID_PATTERN)
  .meta({ description: 'The id of the message', examples: [SMS_ID_EXAMPLE] });
const status = z
  .enum(MESSAGE_STATUSES)
  .meta({ description: 'What became of the message', examples: ['delivered'] });
const channel = z.enum(CHANNELS).meta({ description: 'What a message goes over', examples: ['sms'] });

/** GET /admin/messages. */
export const messageQuery = pageQuery.extend({
  project: z
    .string()
    .meta({ description: 'Only messages of this project: an id or a slug', examples: ['souq'] })
    .optional(),
  phoneNumber: phoneNumberField.optional(),
  status: z
    .enum(MESSAGE_STATUSES, { error: STATUS_ERROR })
    .meta({ description: 'Only messages with this status', examples: ['failed'] })
    .optional(),
  from: fromField,
  to: toField,
});

/** The path of one message. */
export const messageParams = z.object({ message: smsId });

const messageFields = {
  id: smsId,
  project: projectId,
  campaign: z
    .string()
    .nullable()
    .meta({ description: 'The id of its campaign; null for a single message', examples: [null] }),
  phoneNumber: z
    .string()
    .meta({ description: 'In digits: one spelling for each handset', examples: ['9647701234567'] }),
  channels: z.array(channel).meta({ description: 'The fallback chain, in order', examples: [['sms']] }),
  status,
  isFinal: z.boolean().meta({ description: 'Whether no other attempt will be made', examples: [true] }),
  cost: iqdAmount.meta({ description: 'What was held at acceptance, in IQD', examples: [80] }),
  createdAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
  sentAt: instant.nullable().meta({ description: 'When a provider took it', examples: [INSTANT_EXAMPLE] }),
  finalAt: instant.nullable().meta({ description: 'Since when it is final', examples: [INSTANT_EXAMPLE] }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'The last error in its flow', examples: [null] }),
};

/** One page of messages. */
export const messagePage = z
  .object({
    messages: z
      .array(
        z.object(messageFields).meta({ id: 'AdminMessage', description: 'A message without its content' }),
      )
      .meta({ description: 'The newest first' }),
    next: nextOfShort,
  })
  .meta({ id: 'AdminMessagePage', description: 'One page of messages' });

const attempt = z
  .object({
    channel,
    provider: z
      .string()
      .nullable()
      .meta({
        description: 'The last provider that was called; null until its result or a receipt of it is known',
        examples: ['korek-smpp'],
      }),
    state: z
      .enum(ATTEMPT_STATES)
      .meta({ description: 'What became of the attempt', examples: ['delivered'] }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed', examples: [null] }),
    providerMessageIds: z
      .array(z.string())
      .meta({ description: "The provider's ids of its parts", examples: [['korek-smpp:5f1d7a9f']] }),
    deliveredIds: z.array(z.string()).meta({
      description: 'Those that a receipt reports as delivered',
      examples: [['korek-smpp:5f1d7a9f']],
    }),
    startedAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
    triedSince: instant
      .nullable()
      .meta({ description: 'Since when a busy provider made it wait', examples: [null] }),
    endedAt: instant.nullable().meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
  })
  .meta({ id: 'AdminChannelAttempt', description: 'One attempt on one channel' });

const entry = z
  .object({
    id: z.string().meta({ description: 'The ledger entry', examples: [`${SMS_ID_EXAMPLE}/hold`] }),
    at: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
    kind: z
      .enum(['hold', 'settlement'])
      .meta({ description: 'A settlement ends the hold', examples: ['hold'] }),
    held: iqdAmount.meta({ description: 'What the hold promised, in IQD', examples: [80] }),
    captured: iqdAmount.meta({ description: 'What the settlement took of it, in IQD', examples: [0] }),
    released: iqdAmount.meta({ description: 'What the settlement released, in IQD', examples: [0] }),
  })
  .meta({ id: 'AdminMessageEntry', description: 'A ledger entry of a message' });

/** GET /admin/messages/{message}. */
export const traceSchema = z
  .object({
    ...messageFields,
    senderId: z
      .string()
      .nullable()
      .meta({ description: 'What an sms shows', examples: ['Barid'] }),
    smsType: z
      .enum(SMS_TYPES)
      .meta({ description: 'The kind of its content, which is not shown', examples: ['verification'] }),
    attempts: z.array(attempt).meta({ description: 'In the order of the chain' }),
    entries: z.array(entry).meta({ description: 'Hold and settlement' }),
    events: z
      .array(
        z
          .object({
            ...eventSchema.shape,
            status: z
              .string()
              .nullable()
              .meta({ description: 'The status that it tells of', examples: ['delivered'] }),
            attemptLog: z.array(webhookAttemptSchema).meta({ description: 'The newest first' }),
          })
          .meta({ id: 'AdminTracedEvent', description: 'A webhook event with its delivery attempts' }),
      )
      .meta({ description: 'Its webhook events, the oldest first' }),
  })
  .meta({ id: 'AdminMessageTrace', description: 'Everything that is stored of one message but its content' });
