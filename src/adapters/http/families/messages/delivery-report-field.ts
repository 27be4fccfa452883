import { z } from 'zod';
import { DELIVERY_REPORT_TYPES } from '../../../../domain/messages/send-request.ts';
import { webhookSecretField, webhookUrlField } from '../webhooks/webhook-fields.ts';

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
      webhookUrl: webhookUrlField('deliveryReport.webhookUrl').meta({
        examples: ['https://shop.example/barid'],
      }),
      deliveryReportType: deliveryReportType.default('all'),
      webhookSecret: webhookSecretField('deliveryReport.webhookSecret')
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
