import { z } from 'zod';
import { SENDER_ID_CHARACTERS_MAX } from '../../../../../domain/messages/send-request.ts';
import { SENDER_ID_STATUSES } from '../../../../../domain/senders/sender-id.ts';
import { byName } from '../../../../../domain/shared/by-name.ts';
import { MOBILE_OPERATORS, type MobileOperator } from '../../../../../domain/shared/phone-number.ts';
import { BODY_ERROR } from '../../../input/body-error.ts';
import { nameField } from '../../../input/text-fields.ts';
import { MOBILE_OPERATOR_NAMES, numbersOf } from '../../catalog/mobile-operators.ts';
import { amountField, ID_EXAMPLE, id, next, pageQuery, project, reason } from '../shared-schemas.ts';

const priceField = (mobileOperator: MobileOperator) =>
  amountField(`pricePerSms.${mobileOperator}`, 0).meta({
    description: numbersOf(mobileOperator),
    examples: [80],
  });

const prices = byName(MOBILE_OPERATORS, priceField);

const PRICES_ERROR = `pricePerSms must be an object with ${MOBILE_OPERATOR_NAMES}`;

/** POST …/sender-ids. */
export const requestSenderIdBody = z
  .object(
    {
      senderId: nameField('senderId', 1, SENDER_ID_CHARACTERS_MAX).meta({
        description: 'The name that an sms shows; letter case matters',
        examples: ['Souq'],
      }),
      pricePerSms: z
        .object(prices, { error: PRICES_ERROR })
        .meta({ description: 'IQD per billing unit, by mobile operator' }),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'RequestSenderId', description: 'A sender ID that waits for a decision' });

/** PATCH …/sender-ids/{sender}. */
export const priceSenderIdBody = z
  .object(
    {
      pricePerSms: z
        .object(
          byName(MOBILE_OPERATORS, (name) => prices[name].optional()),
          { error: PRICES_ERROR },
        )
        .meta({ description: 'IQD per billing unit; a price that is left out stays' }),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'PriceSenderId', description: 'What changes of the prices of a sender ID' });

/** POST …/reject. */
export const rejectSenderIdBody = z
  .object(
    { reason: reason.meta({ description: 'For operators', examples: ['The name belongs to a bank'] }) },
    { error: BODY_ERROR },
  )
  .meta({ id: 'RejectSenderId', description: 'Why a sender ID is rejected' });

const price = (mobileOperator: MobileOperator) =>
  z.number().meta({ description: numbersOf(mobileOperator), examples: [80] });

/** A sender ID. */
export const managedSenderId = z
  .object({
    id,
    project: z.string().meta({ description: 'The id of its project', examples: [ID_EXAMPLE] }),
    senderId: z.string().meta({ description: 'The name that an sms shows', examples: ['Souq'] }),
    status: z
      .enum(SENDER_ID_STATUSES)
      .meta({ description: 'Only an accepted sender ID can be used', examples: ['pending'] }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it is rejected', examples: [null] }),
    pricePerSms: z
      .object(byName(MOBILE_OPERATORS, price))
      .meta({ description: 'IQD per billing unit, by mobile operator' }),
  })
  .meta({ id: 'AdminSenderId', description: 'A name that an sms shows as its sender' });

/** GET …/sender-ids. */
export const senderIdPage = z
  .object({
    senderIds: z.array(managedSenderId).meta({ description: 'In the order of their ids' }),
    next,
  })
  .meta({ id: 'AdminSenderIdPage', description: 'One page of sender IDs' });

/** The query of both lists. */
export const senderIdQuery = pageQuery.extend({
  status: z
    .enum(SENDER_ID_STATUSES, { error: `status must be one of ${SENDER_ID_STATUSES.join(', ')}` })
    .meta({ description: 'Only sender IDs of this status', examples: ['pending'] })
    .optional(),
});

export const senderParams = z.object({
  project,
  sender: z.string().meta({ description: 'The id or the name of a sender ID', examples: ['Souq'] }),
});
