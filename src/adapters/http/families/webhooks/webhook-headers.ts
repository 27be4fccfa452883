import { millisecondsInSecond } from 'date-fns/constants';
import { DELIVERY_ATTEMPT_TIMEOUT_MS } from '../../../../application/webhooks/delivery-limits.ts';
import { HEX_ID_CHARACTERS } from '../../../../domain/shared/hex-id.ts';
import {
  WEBHOOK_SECRET_CHARACTERS_MAX,
  WEBHOOK_SECRET_PATTERN,
} from '../../../../domain/webhooks/webhook-limits.ts';
import type { DocumentedWebhookHeader } from '../../routing/documented.ts';

/** The id of the event in examples. */
export const EVENT_ID = '01b8dac5b400fd9b941b425b';
/** Its pattern in the descriptions. */
export const EVENT_ID_PATTERN = `^[a-f0-9]{${HEX_ID_CHARACTERS}}$`;
/** When it happened, in examples. */
export const INSTANT = '2030-01-01T00:00:00.000Z';

/** How long a receiver has to respond. */
export const TIMEOUT_SECONDS = DELIVERY_ATTEMPT_TIMEOUT_MS / millisecondsInSecond;
/** Those of a delivery webhook and of one of low credit; `signature` is that of an example. */
export function documentedDeliveryHeaders(signature: string): readonly DocumentedWebhookHeader[] {
  return [
    {
      name: 'webhook-id',
      description: 'The id of the event, the same in every attempt',
      required: true,
      example: EVENT_ID,
      pattern: EVENT_ID_PATTERN,
    },
    {
      name: 'webhook-timestamp',
      description: 'When this attempt was made, in seconds since 1970',
      required: true,
      example: '1893456018',
      pattern: '^[0-9]+$',
    },
    {
      name: 'webhook-signature',
      description:
        '`v1,` and the base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body` by the `webhookSecret`, when one was given',
      required: false,
      example: signature,
      pattern: '^v1,[0-9A-Za-z+/]{43}=$',
    },
    {
      name: 'X-SVC-Webhook-Secret',
      description: `The \`webhookSecret\`, when one was given: 1 to ${WEBHOOK_SECRET_CHARACTERS_MAX} characters`,
      required: false,
      example: 'a-secret-of-your-own',
      pattern: WEBHOOK_SECRET_PATTERN.source,
    },
  ];
}

/** What a receiver of these webhooks may respond. */
export const DELIVERY_RESPONSES = {
  '2XX': 'The event is delivered',
  410: 'The event is given up at once',
  default: 'The event is tried again',
};
