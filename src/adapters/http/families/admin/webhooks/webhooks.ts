import { millisecondsInDay } from 'date-fns/constants';
import { z } from 'zod';
import { ROWS_PER_PAGE_MAX } from '../../../../../application/operators/walk-page.ts';
import {
  type ManageWebhooks,
  RESEND_SLICE_EVENTS,
} from '../../../../../application/operators/webhooks/manage-webhooks.ts';
import type { ReadWebhookLog } from '../../../../../application/operators/webhooks/read-webhook-log.ts';
import type { Clock } from '../../../../../application/ports/clock.ts';
import { HEX_ID_PATTERN } from '../../../../../domain/shared/hex-id.ts';
import { WEBHOOK_LOG_LIFETIME_MS } from '../../../../../domain/webhooks/retry-schedule.ts';
import { nextCursor, placeOf } from '../../../input/cursor.ts';
import { invalid, usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import type { DocumentedError } from '../../../routing/documented.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { invalidBody, NO_PROJECT } from '../documented-errors.ts';
import { actorOf } from '../request-actor.ts';
import { rangeOf } from '../time-fields.ts';
import { presentAttempt, presentCircuit, presentEvent } from './webhook-presenters.ts';
import {
  circuitPage,
  circuitQuery,
  closeCircuitBody,
  closedCircuitSchema,
  eventPage,
  eventParams,
  eventQuery,
  eventSchema,
  loggedEventSchema,
  resendBody,
  resentSchema,
} from './webhook-schemas.ts';

const eventPlace = z.tuple([z.int().min(0), z.string().regex(HEX_ID_PATTERN)]);
const circuitPlace = z.tuple([z.string()]);

const NO_EVENT: DocumentedError = {
  description: 'There is no such webhook event',
  error: rejectionError({ kind: 'webhook-event-not-found' }),
};

export interface WebhookUseCases {
  readonly readWebhookLog: ReadWebhookLog;
  readonly manageWebhooks: ManageWebhooks;
  readonly clock: Clock;
}

/** Webhook events and circuits of every project, for operators. */
export function adminWebhookRoutes(
  { readWebhookLog, manageWebhooks, clock }: WebhookUseCases,
  admission: Admission<null>,
): RouteFamily {
  const list = route({
    method: 'get',
    path: '/admin/webhooks/events',
    operationId: 'listWebhookEvents',
    summary: 'List webhook events by project, endpoint, state and time',
    description: `Webhook events of the last ${WEBHOOK_LOG_LIFETIME_MS / millisecondsInDay} days, the newest first. A page reads at most ${ROWS_PER_PAGE_MAX.toLocaleString('en')} events: it may be short, or empty, and yet have a next one.`,
    admission,
    query: eventQuery,
    ok: { description: 'One page of events', schema: eventPage },
    rejections: { 404: NO_PROJECT },
    async handle({ query }) {
      const { limit, cursor, project = null, endpoint = null, state = null, whatsappPhoneId = null } = query;
      const range = rangeOf(query);
      if (range.from > range.to) throw invalid('to must not be before from');
      const at = placeOf(cursor, eventPlace);
      const { rows, next } = await readWebhookLog.events(
        { project, endpoint, state, whatsappPhoneId, ...range },
        at === null ? null : { createdAt: at[0], id: at[1] },
        limit,
      );
      return ok({
        events: rows.map(presentEvent),
        next: nextCursor(next, (place) => [place.createdAt, place.id]),
      });
    },
  });

  const show = route({
    method: 'get',
    path: '/admin/webhooks/events/:event',
    operationId: 'showWebhookEvent',
    summary: 'Show a webhook event with its delivery attempts',
    description: 'Its body and its secret are not shown.',
    admission,
    params: eventParams,
    ok: { description: 'The event', schema: loggedEventSchema },
    rejections: { 404: NO_EVENT },
    async handle({ params }) {
      const { event, attempts } = await readWebhookLog.event(params.event);
      return ok({ ...presentEvent(event), attemptLog: attempts.map(presentAttempt) });
    },
  });

  const resendOne = route({
    method: 'post',
    path: '/admin/webhooks/events/:event/resend',
    operationId: 'resendWebhookEvent',
    summary: 'Send a webhook event again',
    description:
      'A discarded event, or one that waits for its retry, is due at once. An inbound event goes to the inbound webhook that its number has now.',
    admission,
    params: eventParams,
    ok: { description: 'The event, which is due', schema: eventSchema },
    rejections: {
      404: NO_EVENT,
      409: {
        description:
          'The event was delivered, is due, has left the log or was replaced by a newer one, or its number has no inbound webhook',
        error: rejectionError({ kind: 'webhook-event-not-resendable' }),
      },
    },
    handle: async ({ params, request }) =>
      ok(presentEvent(await manageWebhooks.resendEvent(actorOf(request), params.event))),
  });

  const resendFailed = route({
    method: 'post',
    path: '/admin/webhooks/resends',
    operationId: 'resendFailedWebhooks',
    summary: 'Send the discarded events of an endpoint again',
    description: `A request makes up to ${RESEND_SLICE_EVENTS} events due, the newest first: repeat it with \`after\` until \`next\` is null. Of each message only the newest event is sent. An inbound event goes to the inbound webhook that its number has now.`,
    admission,
    body: resendBody,
    ok: { description: 'What became of these events', schema: resentSchema },
    rejections: { 400: invalidBody('endpoint is required'), 404: NO_PROJECT },
    handle: async ({ body: { project, endpoint, after = null }, request }) =>
      ok(await manageWebhooks.resendSlice(actorOf(request), { project, endpoint }, after)),
  });

  const circuits = route({
    method: 'get',
    path: '/admin/webhooks/circuits',
    operationId: 'listOpenCircuits',
    summary: 'List the destinations whose circuit is open',
    description:
      'A destination is an endpoint of one project. The reply says until when nothing is attempted.',
    admission,
    query: circuitQuery,
    ok: { description: 'One page of circuits', schema: circuitPage },
    rejections: { 404: NO_PROJECT },
    async handle({ query: { limit, cursor, project = null } }) {
      const after = placeOf(cursor, circuitPlace)?.[0] ?? null;
      const { rows, next } = await readWebhookLog.openCircuits(project, after, limit);
      const now = clock.now();
      return ok({
        circuits: rows.map((circuit) => presentCircuit(circuit, now)),
        next: nextCursor(next, (id) => [id]),
      });
    },
  });

  const close = route({
    method: 'post',
    path: '/admin/webhooks/circuits/close',
    operationId: 'closeCircuit',
    summary: 'Close the circuit of a destination',
    description: 'Its due events are attempted at once. It opens again when they fail.',
    admission,
    body: closeCircuitBody,
    ok: { description: 'The destination', schema: closedCircuitSchema },
    rejections: {
      400: invalidBody('endpoint is required'),
      404: NO_PROJECT,
      409: {
        description: 'The circuit is closed',
        error: rejectionError({ kind: 'circuit-not-open' }),
      },
    },
    async handle({ body: { project, endpoint }, request }) {
      const closed = await manageWebhooks.closeCircuit(actorOf(request), { project, endpoint });
      return ok({ project: closed.projectId, endpoint: closed.endpoint, state: 'closed' as const });
    },
  });

  const tag = { name: 'Webhooks', description: 'Webhook events and circuits of every project.' };
  return { tag, envelope: usualEnvelope, routes: [list, show, resendOne, resendFailed, circuits, close] };
}
