import { millisecondsInHour } from 'date-fns/constants';
import { z } from 'zod';
import type { DeliveryPayload } from '../../../../domain/webhooks/delivery-event.ts';
import { DELIVERY_RETRIES_MAX, plannedDeliveryDelayMs } from '../../../../domain/webhooks/retry-schedule.ts';
import type { DocumentedWebhook } from '../../routing/documented.ts';
import {
  DELIVERY_RESPONSES,
  documentedDeliveryHeaders,
  TIMEOUT_SECONDS,
} from '../webhooks/webhook-headers.ts';
import { deliveryReportType } from './delivery-report-field.ts';
import { channel, smsId } from './message-schemas.ts';

/** The whole hours of the retries of a delivery webhook. */
const DELIVERY_HOURS = Math.floor(
  Array.from({ length: DELIVERY_RETRIES_MAX }, (_, index) => plannedDeliveryDelayMs(index + 1)).reduce(
    (sum, delayMs) => sum + delayMs,
  ) / millisecondsInHour,
);
const text = z.string();

const STATUSES = ['sent', 'delivered', 'failed'] as const satisfies readonly DeliveryPayload['status'][];

const deliveryPayload = z
  .object({
    smsId: smsId.meta({ description: 'The id that the send returned' }),
    deliveryReportType: deliveryReportType.meta({ description: 'As the send asked' }),
    isFinal: z
      .boolean()
      .meta({ description: 'Whether no other webhook follows for this message', examples: [true] }),
    channel: channel.meta({ description: 'The channel that the status is about' }),
    status: z.enum(STATUSES).meta({ description: 'The new status of the message', examples: ['failed'] }),
    reason: text
      .meta({
        description: 'Why, when the message failed',
        examples: ['The operator rejected the message'],
      })
      .optional(),
    senderId: text
      .meta({ description: 'The sender ID, when the send named one', examples: ['Barid'] })
      .optional(),
  })
  .meta({ id: 'DeliveryEvent', description: 'A new status of a message' });

const DELIVERED: DeliveryPayload = {
  smsId: 'sms-01b8dac5b7e89cb6ec5c192b',
  deliveryReportType: 'all',
  isFinal: true,
  channel: 'whatsapp',
  status: 'delivered',
};

/** Specification 6.1. */
export const DELIVERY_WEBHOOK: DocumentedWebhook = {
  name: 'deliveryStatus',
  operationId: 'deliveryStatusWebhook',
  summary: 'A message has a new status',
  description: `Posted to the \`webhookUrl\` of the \`deliveryReport\` of a send. Respond with a 2xx within ${TIMEOUT_SECONDS} seconds. Another response, or none, is tried again up to ${DELIVERY_RETRIES_MAX} times over ${DELIVERY_HOURS} hours; 410 ends it. The same event may come twice: remember its \`webhook-id\`.`,
  headers: documentedDeliveryHeaders('v1,EFDEFrTXIRdAr9yN1KHIWcS28dWm+qt9mFEBb8gAVPQ='),
  body: deliveryPayload,
  examples: {
    sent: { ...DELIVERED, isFinal: false, status: 'sent' },
    delivered: DELIVERED,
    failed: {
      ...DELIVERED,
      channel: 'sms',
      status: 'failed',
      reason: 'The operator rejected the message',
      senderId: 'Barid',
    },
  },
  responses: DELIVERY_RESPONSES,
};
