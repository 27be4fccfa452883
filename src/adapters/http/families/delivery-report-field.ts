import { z } from 'zod';
import { DELIVERY_REPORT_TYPES } from '../../../domain/messages/send-request.ts';
import { isStorableLine } from '../../../domain/shared/storable-line.ts';
import { hasStandardKey, STANDARD_SECRET_PREFIX } from '../../../domain/webhooks/signer.ts';
import {
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_SECRET_PATTERN,
  WEBHOOK_URL_CHARACTERS_MAX,
} from '../../../domain/webhooks/webhook-limits.ts';

/** Whether webhooks may go to an https address is decided where they are posted, by one reading of it. */
export const HTTPS_PATTERN = /^https:\/\//i;

const SECRET_ERROR = `deliveryReport.webhookSecret must be 1 to ${WEBHOOK_SECRET_CHARACTERS_MAX} letters, digits or signs of a header token`;
const NO_KEY_ERROR = `deliveryReport.webhookSecret must have a key in base64 behind ${STANDARD_SECRET_PREFIX}`;

export const deliveryReportType = z
  .enum(DELIVERY_REPORT_TYPES, { error: 'deliveryReport.deliveryReportType must be all or final' })
  .meta({
    id: 'DeliveryReportType',
    description:
      '`all` (default): `sent`, then `delivered` or `failed`; `final`: `delivered` or `failed` only',
    examples: ['all'],
  });

/** Specification 6.1. */
export const deliveryReportField = z
  .object(
    {
      webhookUrl: z
        .string({ error: 'deliveryReport.webhookUrl is required and must be a string' })
        .refine((text) => text.length <= WEBHOOK_URL_CHARACTERS_MAX, {
          error: `deliveryReport.webhookUrl must be at most ${WEBHOOK_URL_CHARACTERS_MAX} characters long`,
        })
        .refine((text) => HTTPS_PATTERN.test(text) && isStorableLine(text), {
          error: 'deliveryReport.webhookUrl must begin with https:// and hold no control characters',
        })
        .meta({
          format: 'uri',
          pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
          maxLength: WEBHOOK_URL_CHARACTERS_MAX,
          description: 'An HTTPS address that webhooks are posted to',
          examples: ['https://shop.example/barid'],
        }),
      deliveryReportType: deliveryReportType.default('all'),
      webhookSecret: z
        .string({ error: SECRET_ERROR })
        .min(1, { error: SECRET_ERROR })
        .max(WEBHOOK_SECRET_CHARACTERS_MAX, { error: SECRET_ERROR })
        .regex(WEBHOOK_SECRET_PATTERN, { error: SECRET_ERROR })
        .refine(hasStandardKey, { error: NO_KEY_ERROR })
        .meta({
          description:
            'It comes back in `X-SVC-Webhook-Secret` and signs each webhook. Behind `whsec_` stands a key in base64 of at least one byte.',
          examples: ['a-secret-of-your-own'],
        })
        .optional(),
    },
    { error: 'deliveryReport must be an object' },
  )
  .meta({ id: 'DeliveryReport', description: 'Asks for webhooks that tell the status of the message' });
