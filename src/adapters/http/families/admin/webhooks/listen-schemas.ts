import { z } from 'zod';
import { WEBHOOK_KINDS } from '../../../../../domain/webhooks/webhook-kind.ts';
import { ID_EXAMPLE, INSTANT_EXAMPLE, instant } from '../shared-schemas.ts';

const CURSOR_EXAMPLE = 'WyIwMWI4ZGFjNjllNjAwMDAwMDAwMDAwMDAiXQ';

const listenedEvent = z
  .object({
    id: z.string().meta({ description: 'Of the event', examples: [ID_EXAMPLE] }),
    kind: z.enum(WEBHOOK_KINDS).meta({
      description: 'Of a message that was sent, one that came in, or low credit',
      examples: ['delivery'],
    }),
    at: instant.meta({ description: 'When the event was made', examples: [INSTANT_EXAMPLE] }),
    url: z
      .string()
      .meta({ description: 'Where the service delivers it', examples: ['https://listen.invalid/hooks'] }),
    headers: z.record(z.string(), z.string()).meta({
      description: 'Of a request that is made now: secret, signature and timestamp are genuine',
      examples: [{ 'Content-Type': 'application/json', 'webhook-id': ID_EXAMPLE }],
    }),
    body: z.string().meta({
      description: 'What is signed, byte for byte',
      examples: ['{"smsId":"sms-01b8dac5b7e89cb6ec5c192b","status":"delivered"}'],
    }),
  })
  .meta({ id: 'ListenedEvent', description: 'A webhook event and its signed request' });

/** GET /admin/projects/{project}/webhook-events. */
export const listenPage = z
  .object({
    events: z.array(listenedEvent),
    next: z
      .string()
      .meta({ description: '`cursor` of the next request; never null', examples: [CURSOR_EXAMPLE] }),
  })
  .meta({ id: 'ListenPage', description: 'Webhook events as they are made, the oldest first' });
