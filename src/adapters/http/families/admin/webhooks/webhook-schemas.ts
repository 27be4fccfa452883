import { z } from 'zod';
import { SHOWN_ATTEMPTS_MAX } from '../../../../../application/operators/webhooks/read-webhook-log.ts';
import { HEX_ID_PATTERN } from '../../../../../domain/shared/hex-id.ts';
import { RESPONSE_START_BYTES_MAX } from '../../../../../domain/webhooks/response-start.ts';
import { WEBHOOK_STATES } from '../../../../../domain/webhooks/webhook-event.ts';
import { WEBHOOK_KINDS } from '../../../../../domain/webhooks/webhook-kind.ts';
import { WEBHOOK_URL_CHARACTERS_MAX } from '../../../../../domain/webhooks/webhook-limits.ts';
import { BODY_ERROR } from '../../../input/body-error.ts';
import { nameField } from '../../../input/text-fields.ts';
import { ADMIN_DESTINATION_CURSOR_CHARACTERS_MAX } from '../../../limits.ts';
import {
  ID_EXAMPLE,
  INSTANT_EXAMPLE,
  instant,
  nextOfShort,
  pageQuery,
  project,
  projectId,
} from '../shared-schemas.ts';
import { fromField, toField } from '../time-fields.ts';

const ENDPOINT_EXAMPLE = 'customer.example/status';
const STATE_ERROR = `state must be one of ${WEBHOOK_STATES.join(', ')}`;

const eventId = z
  .string()
  .regex(HEX_ID_PATTERN, { error: 'An id of a webhook event is 24 hex characters' })
  .meta({ description: 'The id of a webhook event', examples: [ID_EXAMPLE] });
const endpoint = nameField('endpoint', 1, WEBHOOK_URL_CHARACTERS_MAX).meta({
  description: 'Host, port and path of the url, without the query',
  examples: [ENDPOINT_EXAMPLE],
});

/** GET /admin/webhooks/events. */
export const eventQuery = pageQuery.extend({
  project: project.optional(),
  endpoint: endpoint.optional(),
  state: z
    .enum(WEBHOOK_STATES, { error: STATE_ERROR })
    .meta({ description: 'Only events in this state', examples: ['discarded'] })
    .optional(),
  whatsappPhoneId: z
    .string()
    .regex(HEX_ID_PATTERN, { error: 'whatsappPhoneId must be 24 hex characters' })
    .meta({ description: 'Only inbound events of this whatsapp number', examples: [ID_EXAMPLE] })
    .optional(),
  from: fromField,
  to: toField,
});

/** The path of one event. */
export const eventParams = z.object({ event: eventId });

/** A webhook event: neither its body nor its secret. */
export const eventSchema = z
  .object({
    id: eventId,
    kind: z.enum(WEBHOOK_KINDS).meta({
      description: 'Of a message that was sent, one that came in, or low credit',
      examples: ['delivery'],
    }),
    project: projectId,
    message: z
      .string()
      .nullable()
      .meta({
        description: 'The id of the message; null of every event but `delivery`',
        examples: [`sms-${ID_EXAMPLE}`],
      }),
    whatsappPhoneId: z
      .string()
      .nullable()
      .meta({ description: 'The whatsapp number of an inbound event', examples: [null] }),
    endpoint: z
      .string()
      .meta({ description: 'Host, port and path of the url', examples: [ENDPOINT_EXAMPLE] }),
    state: z.enum(WEBHOOK_STATES).meta({ description: 'What became of it', examples: ['delivered'] }),
    attempts: z.int().meta({ description: 'Attempts so far', examples: [1] }),
    createdAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
    nextAttemptAt: instant
      .nullable()
      .meta({ description: 'When it is attempted next', examples: [INSTANT_EXAMPLE] }),
    lastError: z
      .string()
      .nullable()
      .meta({ description: 'Why the last attempt failed', examples: ['HTTP 500'] }),
  })
  .meta({ id: 'AdminWebhookEvent', description: 'A webhook event without its body' });

/** One delivery attempt. */
export const webhookAttemptSchema = z
  .object({
    number: z.int().meta({ description: 'Counts from 1', examples: [1] }),
    startedAt: instant.meta({ description: 'ISO 8601', examples: [INSTANT_EXAMPLE] }),
    durationMs: z.int().meta({ description: 'How long it took, in milliseconds', examples: [35] }),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The HTTP status', examples: [500] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed', examples: ['HTTP 500'] }),
    response: z
      .string()
      .nullable()
      .meta({
        description: `The first ${RESPONSE_START_BYTES_MAX.toLocaleString('en')} bytes of the response`,
        examples: ['Internal Server Error'],
      }),
  })
  .meta({ id: 'AdminWebhookAttempt', description: 'One delivery attempt' });

/** One page of events. */
export const eventPage = z
  .object({ events: z.array(eventSchema).meta({ description: 'The newest first' }), next: nextOfShort })
  .meta({ id: 'AdminWebhookEventPage', description: 'One page of webhook events' });

/** GET /admin/webhooks/events/{event}. */
export const loggedEventSchema = z
  .object({
    ...eventSchema.shape,
    attemptLog: z
      .array(webhookAttemptSchema)
      .meta({ description: `The newest first, at most ${SHOWN_ATTEMPTS_MAX}` }),
  })
  .meta({ id: 'AdminLoggedEvent', description: 'A webhook event with its delivery attempts' });

/** POST /admin/webhooks/resends. */
export const resendBody = z
  .object(
    {
      project: nameField('project', 1, 60).meta({
        description: 'The id or the slug of a project',
        examples: ['souq'],
      }),
      endpoint,
      after: z
        .string({ error: 'after must be `next` of a reply' })
        .regex(HEX_ID_PATTERN, { error: 'after must be `next` of a reply' })
        .meta({ description: '`next` of the reply before', examples: [ID_EXAMPLE] })
        .optional(),
    },
    { error: BODY_ERROR },
  )
  .meta({ id: 'ResendWebhooks', description: 'A destination whose discarded events are sent again' });

/** The reply of POST /admin/webhooks/resends. */
export const resentSchema = z
  .object({
    resent: z.int().meta({ description: 'Events that are due now', examples: [500] }),
    superseded: z
      .int()
      .meta({ description: 'Events that a newer one of their message replaces', examples: [0] }),
    withoutWebhook: z.int().meta({
      description: 'Inbound events that stay discarded, because their number has no inbound webhook',
      examples: [0],
    }),
    next: z
      .string()
      .nullable()
      .meta({
        description: '`after` of the next request; null when no event is left',
        examples: [ID_EXAMPLE],
      }),
  })
  .meta({ id: 'ResentWebhooks', description: 'What became of one slice of events' });

/** GET /admin/webhooks/circuits. */
export const circuitQuery = z.object({
  limit: pageQuery.shape.limit,
  cursor: z
    .string()
    .max(ADMIN_DESTINATION_CURSOR_CHARACTERS_MAX, { error: 'cursor is not one of a page' })
    .meta({ description: '`next` of the page before', examples: ['WyIwMWI4ZGFjNjllNjAyNzgzMjBmZDYzNWMiXQ'] })
    .optional(),
  project: project.optional(),
});

/** A destination that is left alone for a while. */
export const circuitSchema = z
  .object({
    project: projectId,
    endpoint: z.string().meta({ description: 'Host, port and path', examples: [ENDPOINT_EXAMPLE] }),
    state: z.enum(['open', 'half-open']).meta({
      description: '`half-open`: the next attempt decides whether it closes',
      examples: ['open'],
    }),
    since: instant.nullable().meta({
      description: 'When it opened; null when an older version opened it',
      examples: [INSTANT_EXAMPLE],
    }),
    until: instant.meta({ description: 'Nothing is attempted before', examples: [INSTANT_EXAMPLE] }),
    lastError: z
      .string()
      .nullable()
      .meta({ description: 'Why the attempt failed that opened it', examples: ['timeout'] }),
  })
  .meta({ id: 'AdminCircuit', description: 'A destination whose circuit is open' });

/** One page of circuits. */
export const circuitPage = z
  .object({
    circuits: z.array(circuitSchema).meta({ description: 'By project and endpoint' }),
    next: nextOfShort,
  })
  .meta({ id: 'AdminCircuitPage', description: 'One page of open circuits' });

/** POST /admin/webhooks/circuits/close. */
export const closeCircuitBody = z
  .object({ project: resendBody.shape.project, endpoint }, { error: BODY_ERROR })
  .meta({ id: 'CloseCircuit', description: 'A destination whose circuit is closed' });

/** The reply of POST /admin/webhooks/circuits/close. */
export const closedCircuitSchema = z
  .object({
    project: projectId,
    endpoint: z.string().meta({ description: 'Host, port and path', examples: [ENDPOINT_EXAMPLE] }),
    state: z
      .literal('closed')
      .meta({ description: 'Its due events are attempted now', examples: ['closed'] }),
  })
  .meta({ id: 'AdminClosedCircuit', description: 'A destination whose circuit was closed' });
