import { z } from 'zod';
import { PAYMENT_TYPES } from '../../../../domain/billing/account.ts';
import { SMS_ID_PATTERN } from '../../../../domain/messages/message.ts';
import { MESSAGE_STATUSES } from '../../../../domain/messages/message-status.ts';
import { CHANNELS } from '../../../../domain/shared/channel.ts';
import { PHONE_NUMBER_PATTERN } from '../../../../domain/shared/phone-number.ts';

export const channel = z.enum(CHANNELS).meta({
  id: 'Channel',
  description: 'What a message goes over',
  examples: ['whatsapp'],
});

export const smsId = z
  .string()
  .regex(SMS_ID_PATTERN)
  .meta({ description: 'The id of the message', examples: ['sms-01b8dac5b7e89cb6ec5c192b'] });

const amount = z.number().min(0);

/** The reply to specification 4.1. */
export const sendResult = z
  .object({
    message: z
      .string()
      .meta({ description: 'What was done, for people', examples: ['SMS task created successfully'] }),
    smsId,
    remainingCredit: amount.meta({ description: 'IQD: the credit after this message', examples: [14920] }),
    cost: amount.meta({ description: 'IQD: what is held for this message', examples: [80] }),
    canCover: z
      .boolean()
      .meta({ description: 'Whether the credit covers the cost: always true', examples: [true] }),
    paymentType: z
      .enum(PAYMENT_TYPES)
      .meta({ description: 'How the account of the project pays', examples: ['prepaid'] }),
  })
  .meta({ id: 'SendResult', description: 'An accepted message' });

const attemptedChannel = z
  .object({
    channel,
    tried: z.boolean().meta({
      description: 'Whether its provider has accepted or rejected the message, or its time is over',
      examples: [true],
    }),
    success: z
      .boolean()
      .meta({
        description: 'Present when tried: whether the channel took the message, and has not failed since',
        examples: [true],
      })
      .optional(),
  })
  .meta({ id: 'AttemptedChannel', description: 'One channel of the fallback chain of a message' });

/** Specification 2.1. */
export const trackedMessage = z
  .object({
    smsId,
    phoneNumber: z
      .string()
      .regex(PHONE_NUMBER_PATTERN)
      .meta({
        description: 'As it was sent: 10 to 15 digits, international format without a plus',
        examples: ['9647701234567'],
      }),
    status: z.enum(MESSAGE_STATUSES).meta({
      id: 'MessageStatus',
      description:
        'It goes from `pending` over `sent` and `delivered` to `read`, or to `failed`. It may skip a status, and never goes back.',
      examples: ['delivered'],
    }),
    cost: amount.meta({
      description: 'IQD: the quoted amount; it stays the same when it was released',
      examples: [80],
    }),
    isFinalStatus: z
      .boolean()
      .meta({ description: 'Whether no other attempt will be made', examples: [true] }),
    lastChannel: channel.meta({
      description: 'The last channel that was tried; the first of the chain until one was',
    }),
    channelFlow: z.array(attemptedChannel).meta({
      description: 'Every channel of the chain, in order',
      examples: [
        [
          { channel: 'whatsapp', tried: true, success: true },
          { channel: 'telegram', tried: false },
          { channel: 'sms', tried: false },
        ],
      ],
    }),
  })
  .meta({ id: 'Message', description: 'A message and what became of it' });
