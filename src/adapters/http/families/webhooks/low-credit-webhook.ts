import { z } from 'zod';
import { LOW_CREDIT_EVENT_NAME, type LowCreditPayload } from '../../../../domain/webhooks/credit-event.ts';
import type { DocumentedWebhook } from '../../routing/documented.ts';
import { DELIVERY_RESPONSES, documentedDeliveryHeaders, INSTANT } from './webhook-headers.ts';

const lowCreditPayload = z
  .object({
    event: z.literal(LOW_CREDIT_EVENT_NAME).meta({ description: 'The name of the event' }),
    project: z.string().meta({ description: 'The slug of the project', examples: ['souq'] }),
    credit: z.number().meta({ description: 'The credit that was left, in IQD', examples: [4_960] }),
    amount: z.number().meta({ description: 'The amount of the setting, in IQD', examples: [5_000] }),
    at: z.iso.datetime().meta({ description: 'When the credit fell below it', examples: [INSTANT] }),
  })
  .meta({ id: 'LowCreditEvent', description: 'The credit of the project fell below an amount' });

const LOW_CREDIT: LowCreditPayload = {
  event: LOW_CREDIT_EVENT_NAME,
  project: 'souq',
  credit: 4_960,
  amount: 5_000,
  at: INSTANT,
};

/** The notice of low credit, which a setting of the project asks for. */
export const LOW_CREDIT_WEBHOOK: DocumentedWebhook = {
  name: 'lowCredit',
  operationId: 'lowCreditWebhook',
  summary: 'The credit of the project is low',
  description:
    'Posted to the `webhookUrl` of the setting `lowCredit`, which the operator of the service makes. It comes once when the credit falls below the amount, and again only after a top-up. Retries are those of a delivery webhook. The same event may come twice: remember its `webhook-id`.',
  headers: documentedDeliveryHeaders('v1,9AQD+URpTGLEnUdZNiT64AIZYgsepMp1QljsIyPyuuc='),
  body: lowCreditPayload,
  examples: { lowCredit: LOW_CREDIT },
  responses: DELIVERY_RESPONSES,
};
