import { millisecondsInDay, millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import {
  INBOUND_EVENT_NAME,
  type InboundContent,
  type InboundPayload,
} from '../../../../domain/webhooks/inbound-event.ts';
import { INBOUND_LIFETIME_MS, INBOUND_QUICK_DELAYS_MS } from '../../../../domain/webhooks/retry-schedule.ts';
import type { DocumentedWebhook } from '../../routing/documented.ts';
import { EVENT_ID, EVENT_ID_PATTERN, INSTANT, TIMEOUT_SECONDS } from './webhook-headers.ts';

const [INBOUND_SECOND = 0, INBOUND_THIRD = 0] = INBOUND_QUICK_DELAYS_MS.map(
  (delayMs) => delayMs / millisecondsInSecond,
);
const INBOUND_DAYS = INBOUND_LIFETIME_MS / millisecondsInDay;

const text = z.string();

const messageFields = {
  id: text.meta({ description: 'The id that whatsapp gave the message', examples: ['wamid.HBgMOTY0'] }),
  timestamp: z.iso.datetime().meta({ description: 'When it was written', examples: [INSTANT] }),
};

/** The message of an inbound event, whose `content` follows from its `type`. */
function inboundMessage<Types extends InboundContent['type'], Content extends z.ZodObject>(
  id: string,
  types: readonly [Types, ...Types[]],
  content: Content,
) {
  const [first] = types;
  return z
    .object({
      ...messageFields,
      type: z.enum(types).meta({ description: 'What the message is', examples: [first] }),
      content: content.meta({ description: 'What the message holds' }),
    })
    .meta({ id, description: `A message of the type ${types.map((type) => `\`${type}\``).join(', ')}` });
}

const inboundMessages = {
  InboundText: inboundMessage(
    'InboundText',
    ['text'],
    z.object({ text: text.meta({ description: 'The text', examples: ['ok'] }) }),
  ),
  InboundLocation: inboundMessage(
    'InboundLocation',
    ['location'],
    z.object({
      latitude: z.number().meta({ description: 'Degrees north', examples: [33.3152] }),
      longitude: z.number().meta({ description: 'Degrees east', examples: [44.3661] }),
      name: text
        .meta({ description: 'The name of the place, when it has one', examples: ['Office'] })
        .optional(),
      address: text
        .meta({ description: 'Its address, when it has one', examples: ['Karrada, Baghdad'] })
        .optional(),
    }),
  ),
  InboundMedia: inboundMessage(
    'InboundMedia',
    ['image', 'video', 'audio', 'document', 'sticker'],
    z.object({
      mediaId: text.meta({ description: 'The id of the file at whatsapp', examples: ['1234567890'] }),
      mimeType: text.meta({ description: 'The media type of the file', examples: ['image/jpeg'] }),
      caption: text
        .meta({ description: 'The text below it, when there is one', examples: ['The front door'] })
        .optional(),
      filename: text
        .meta({ description: 'The name of the file, when it has one', examples: ['door.jpg'] })
        .optional(),
    }),
  ),
  InboundReply: inboundMessage(
    'InboundReply',
    ['button_reply', 'list_reply'],
    z.object({
      id: text.meta({ description: 'The id of the button or row', examples: ['yes'] }),
      title: text.meta({ description: 'Its text', examples: ['Yes'] }),
    }),
  ),
  InboundUnsupported: inboundMessage('InboundUnsupported', ['unsupported'], z.object({})),
};

const MESSAGE_OF_TYPE: Readonly<Record<InboundContent['type'], keyof typeof inboundMessages>> = {
  text: 'InboundText',
  location: 'InboundLocation',
  image: 'InboundMedia',
  video: 'InboundMedia',
  audio: 'InboundMedia',
  document: 'InboundMedia',
  sticker: 'InboundMedia',
  button_reply: 'InboundReply',
  list_reply: 'InboundReply',
  unsupported: 'InboundUnsupported',
};

const { InboundText, InboundLocation, InboundMedia, InboundReply, InboundUnsupported } = inboundMessages;

const inboundPayload = z
  .object({
    event: z.literal(INBOUND_EVENT_NAME).meta({ description: 'The name of the event' }),
    eventId: text.meta({ description: 'The id of the event, as in the header', examples: [EVENT_ID] }),
    timestamp: z.iso.datetime().meta({ description: 'When the message came in', examples: [INSTANT] }),
    project: text.meta({ description: 'The id of the project', examples: ['1888ad8b145368b77b4f9dcf'] }),
    phoneNumber: z
      .object({
        id: text.meta({ description: 'Our id, 24 hex characters', examples: ['664def456abc789012345678'] }),
        phoneNumberId: text.meta({ description: 'The id of the platform', examples: ['104512345678903'] }),
        displayPhoneNumber: text.meta({
          description: 'The number as whatsapp shows it',
          examples: ['+964 770 000 0000'],
        }),
      })
      .meta({ description: 'The number that the message came to' }),
    contact: z
      .object({
        phoneNumber: text.meta({ description: 'Digits', examples: ['9647701234567'] }),
        name: text.meta({ description: 'Empty when whatsapp gave none', examples: ['Layla'] }),
      })
      .meta({ description: 'Who wrote the message' }),
    message: z
      .discriminatedUnion('type', [
        InboundText,
        InboundLocation,
        InboundMedia,
        InboundReply,
        InboundUnsupported,
      ])
      .meta({
        id: 'InboundMessage',
        description: 'The message; `type` chooses the shape of `content`',
        discriminator: {
          propertyName: 'type',
          mapping: Object.fromEntries(
            Object.entries(MESSAGE_OF_TYPE).map(([type, name]) => [type, `#/components/schemas/${name}`]),
          ),
        },
      }),
  })
  .meta({ id: 'InboundEvent', description: 'A whatsapp message to a number of the project' });

const MEDIA = { mediaId: '1234567890', mimeType: 'image/jpeg' };

/** The content of a message of each type. */
const CONTENTS: readonly InboundContent[] = [
  { type: 'text', content: { text: 'ok' } },
  {
    type: 'location',
    content: { latitude: 33.3152, longitude: 44.3661, name: 'Office', address: 'Karrada, Baghdad' },
  },
  { type: 'image', content: { ...MEDIA, caption: 'The front door' } },
  { type: 'video', content: { ...MEDIA, mimeType: 'video/mp4' } },
  { type: 'audio', content: { ...MEDIA, mimeType: 'audio/ogg' } },
  { type: 'document', content: { ...MEDIA, mimeType: 'application/pdf', filename: 'invoice.pdf' } },
  { type: 'sticker', content: { ...MEDIA, mimeType: 'image/webp' } },
  { type: 'button_reply', content: { id: 'yes', title: 'Yes' } },
  { type: 'list_reply', content: { id: 'tomorrow', title: 'Tomorrow' } },
  { type: 'unsupported', content: {} },
];

/** Specification 6.2. */
export const INBOUND_WEBHOOK: DocumentedWebhook = {
  name: 'inboundMessage',
  operationId: 'inboundMessageWebhook',
  summary: 'Somebody wrote to a whatsapp number of the project',
  description: `Posted to the webhook of the number. Respond with a 2xx within ${TIMEOUT_SECONDS} seconds, else it is tried again: ${INBOUND_SECOND} seconds later, ${INBOUND_THIRD} seconds after that, then hourly for ${INBOUND_DAYS} days. The same event may come twice: remember its id.`,
  headers: [
    {
      name: 'X-SVC-Webhook-Event',
      description: 'The name of the event',
      required: true,
      example: INBOUND_EVENT_NAME,
      pattern: '^[a-z._]+$',
    },
    {
      name: 'X-SVC-Webhook-Event-Id',
      description: 'The id of the event, the same in every attempt',
      required: true,
      example: EVENT_ID,
      pattern: EVENT_ID_PATTERN,
    },
    {
      name: 'X-SVC-Webhook-Timestamp',
      description: 'When this attempt was made, in milliseconds since 1970',
      required: true,
      example: '1893456000000',
      pattern: '^[0-9]+$',
    },
    {
      name: 'X-SVC-Webhook-Attempt',
      description: '1, 2, 3 and so on',
      required: true,
      example: '1',
      pattern: '^[1-9][0-9]*$',
    },
    {
      name: 'X-SVC-Webhook-Signature',
      description:
        '`sha256=` and the hex HMAC-SHA256 of `timestamp.body`; the key is the whole secret with its prefix',
      required: true,
      example: 'sha256=539d83b6b5be34a3023b08cb7b993066194229b6f63b7d8973c63bd2f33ff4de',
      pattern: '^sha256=[a-f0-9]{64}$',
    },
    {
      name: 'webhook-id',
      description: 'The same id, as Standard Webhooks libraries read it',
      required: true,
      example: EVENT_ID,
      pattern: EVENT_ID_PATTERN,
    },
    {
      name: 'webhook-timestamp',
      description: 'When this attempt was made, in seconds since 1970',
      required: true,
      example: '1893456000',
      pattern: '^[0-9]+$',
    },
    {
      name: 'webhook-signature',
      description:
        '`v1,` and the base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`; while the secret is rotated one by each secret, separated by a space',
      required: true,
      example: 'v1,EFDEFrTXIRdAr9yN1KHIWcS28dWm+qt9mFEBb8gAVPQ=',
      pattern: '^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)?$',
    },
  ],
  body: inboundPayload,
  examples: Object.fromEntries(CONTENTS.map((content) => [content.type, exampleEvent(content)])),
  responses: { '2XX': 'The event is delivered', default: 'The event is tried again' },
};

function exampleEvent({ type, content }: InboundContent): InboundPayload {
  return {
    event: INBOUND_EVENT_NAME,
    eventId: EVENT_ID,
    timestamp: INSTANT,
    project: '1888ad8b145368b77b4f9dcf',
    phoneNumber: {
      id: '664def456abc789012345678',
      phoneNumberId: '104512345678903',
      displayPhoneNumber: '+964 770 000 0000',
    },
    contact: { phoneNumber: '9647701234567', name: 'Layla' },
    message: { id: 'wamid.HBgMOTY0', type, timestamp: INSTANT, content },
  };
}
