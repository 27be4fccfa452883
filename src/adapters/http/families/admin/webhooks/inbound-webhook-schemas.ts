import { z } from 'zod';
import { HEX_ID_PATTERN } from '../../../../../domain/shared/hex-id.ts';
import { BODY_ERROR } from '../../../input/body-error.ts';
import { SECRET_OVERLAP_MINUTES_DEFAULT, SECRET_OVERLAP_MINUTES_MAX } from '../../../limits.ts';
import { webhookUrlField } from '../../webhooks/webhook-fields.ts';
import { instant, next, projectParams, whole } from '../shared-schemas.ts';

const NUMBER_EXAMPLE = '664def456abc789012345678';
const URL_EXAMPLE = 'https://shop.example/inbound';
const SECRET_EXAMPLE = 'svc_live_sk0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
const NUMBER_ERROR = 'whatsappPhoneId must be our id of a whatsapp number, 24 lower-case hex characters';

/** The path of one webhook. */
export const webhookParams = projectParams.extend({
  phoneNumber: z
    .string()
    .meta({ description: 'Our id of a whatsapp number of the project', examples: [NUMBER_EXAMPLE] }),
});

const url = webhookUrlField('url').meta({ examples: [URL_EXAMPLE] });

/** POST …/inbound-webhooks. */
export const createWebhookBody = z
  .object(
    {
      whatsappPhoneId: z
        .string({ error: NUMBER_ERROR })
        .regex(HEX_ID_PATTERN, { error: NUMBER_ERROR })
        .meta({ description: 'Our id of a whatsapp number of the project', examples: [NUMBER_EXAMPLE] }),
      url,
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'CreateInboundWebhook', description: 'Where the messages to a number go' });

/** PATCH …/inbound-webhooks/{phoneNumber}. */
export const changeWebhookBody = z
  .object({ url }, { error: BODY_ERROR })
  .meta({ id: 'ChangeInboundWebhook', description: 'The new address' });

/** POST …/rotate-secret. */
export const rotateSecretBody = z
  .object(
    {
      overlapMinutes: whole('overlapMinutes', 0, SECRET_OVERLAP_MINUTES_MAX)
        .meta({
          description: `How long the old secret signs too; ${SECRET_OVERLAP_MINUTES_DEFAULT} when it is left out`,
          examples: [60],
        })
        .optional(),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'RotateInboundSecret', description: 'When the new secret replaces the old one' });

const webhookFields = {
  whatsappPhoneId: z.string().meta({ description: 'Our id of the number', examples: [NUMBER_EXAMPLE] }),
  url: z.string().meta({ description: 'Where its messages go', examples: [URL_EXAMPLE] }),
  overlapEndsAt: instant
    .nullable()
    .meta({ description: 'Until when the old secret signs too; null without a rotation', examples: [null] }),
};

/** A webhook in a list. */
export const webhookSchema = z
  .object(webhookFields)
  .meta({ id: 'AdminInboundWebhook', description: 'The inbound webhook of a whatsapp number' });

/** A webhook with a new secret. */
export const webhookWithSecretSchema = z
  .object({
    ...webhookFields,
    secret: z.string().meta({ description: 'The new secret. It is shown once', examples: [SECRET_EXAMPLE] }),
  })
  .meta({ id: 'AdminInboundWebhookWithSecret', description: 'An inbound webhook and its new secret' });

/** GET …/inbound-webhooks. */
export const webhookPage = z
  .object({
    inboundWebhooks: z.array(webhookSchema).meta({ description: 'In the order of the numbers' }),
    next,
  })
  .meta({ id: 'AdminInboundWebhookPage', description: 'One page of the inbound webhooks of a project' });
