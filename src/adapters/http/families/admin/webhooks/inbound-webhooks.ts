import { millisecondsInMinute } from 'date-fns/constants';
import { z } from 'zod';
import type {
  ListedWebhook,
  ManageInboundWebhooks,
  WebhookWithSecret,
} from '../../../../../application/operators/webhooks/manage-inbound-webhooks.ts';
import { isoOrNull } from '../../../../../domain/shared/instant.ts';
import { overlapEndsAt } from '../../../../../domain/webhooks/inbound-secrets.ts';
import { nextCursor, placeOf } from '../../../input/cursor.ts';
import { SECRET_OVERLAP_MINUTES_DEFAULT } from '../../../limits.ts';
import { usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import type { DocumentedError } from '../../../routing/documented.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { NO_PROJECT } from '../documented-errors.ts';
import { actorOf } from '../request-actor.ts';
import { pageQuery, projectParams } from '../shared-schemas.ts';
import {
  changeWebhookBody,
  createWebhookBody,
  rotateSecretBody,
  webhookPage,
  webhookParams,
  webhookSchema,
  webhookWithSecretSchema,
} from './inbound-webhook-schemas.ts';

const place = z.tuple([z.string()]);

const NO_WEBHOOK: DocumentedError = {
  description: 'There is no such project, or its number has no inbound webhook',
  error: rejectionError({ kind: 'inbound-webhook-not-found' }),
};

const BAD_URL: DocumentedError = {
  description: 'The body is not valid, or webhooks never go to this address',
  error: rejectionError({ kind: 'webhook-url-refused', field: 'url' }),
};

/** The inbound webhooks of whatsapp numbers, for operators. */
export function adminInboundWebhookRoutes(
  { manageInboundWebhooks }: { readonly manageInboundWebhooks: ManageInboundWebhooks },
  admission: Admission<null>,
): RouteFamily {
  const create = route({
    method: 'post',
    path: '/admin/projects/:project/inbound-webhooks',
    operationId: 'createInboundWebhook',
    summary: 'Give a whatsapp number an inbound webhook',
    description: 'The reply has the secret that signs. It is stored sealed, and is never shown again.',
    admission,
    params: projectParams,
    body: createWebhookBody,
    ok: { description: 'The webhook and its secret', schema: webhookWithSecretSchema },
    rejections: {
      400: BAD_URL,
      404: {
        description: 'There is no such project, or no such whatsapp number of it',
        error: rejectionError({ kind: 'phone-number-not-found' }),
      },
      409: {
        description: 'The number has an inbound webhook',
        error: rejectionError({ kind: 'inbound-webhook-exists' }),
      },
    },
    async handle({ params, body: { whatsappPhoneId, url }, request }) {
      const actor = actorOf(request);
      return ok(withSecret(await manageInboundWebhooks.create(actor, params.project, whatsappPhoneId, url)));
    },
  });

  const list = route({
    method: 'get',
    path: '/admin/projects/:project/inbound-webhooks',
    operationId: 'listInboundWebhooks',
    summary: 'List the inbound webhooks of a project',
    description: 'In the order of the ids of their numbers, without secrets.',
    admission,
    params: projectParams,
    query: pageQuery,
    ok: { description: 'One page of inbound webhooks', schema: webhookPage },
    rejections: { 404: NO_PROJECT },
    async handle({ params, query: { limit, cursor } }) {
      const after = placeOf(cursor, place)?.[0] ?? null;
      const { rows, next } = await manageInboundWebhooks.list(params.project, after, limit);
      return ok({ inboundWebhooks: rows.map(present), next: nextCursor(next, (id) => [id]) });
    },
  });

  const change = route({
    method: 'patch',
    path: '/admin/projects/:project/inbound-webhooks/:phoneNumber',
    operationId: 'changeInboundWebhook',
    summary: 'Give an inbound webhook another address',
    description: 'Messages that were not delivered yet go there too. The secret stays.',
    admission,
    params: webhookParams,
    body: changeWebhookBody,
    ok: { description: 'The changed webhook', schema: webhookSchema },
    rejections: { 400: BAD_URL, 404: NO_WEBHOOK },
    async handle({ params: { project, phoneNumber }, body: { url }, request }) {
      return ok(present(await manageInboundWebhooks.redirect(actorOf(request), project, phoneNumber, url)));
    },
  });

  const remove = route({
    method: 'delete',
    path: '/admin/projects/:project/inbound-webhooks/:phoneNumber',
    operationId: 'removeInboundWebhook',
    summary: 'Remove an inbound webhook',
    description: 'Later messages to the number are dropped, and those that wait are discarded.',
    admission,
    params: webhookParams,
    ok: { description: 'The webhook that was removed', schema: webhookSchema },
    rejections: { 404: NO_WEBHOOK },
    async handle({ params: { project, phoneNumber }, request }) {
      return ok(present(await manageInboundWebhooks.remove(actorOf(request), project, phoneNumber)));
    },
  });

  const rotate = route({
    method: 'post',
    path: '/admin/projects/:project/inbound-webhooks/:phoneNumber/rotate-secret',
    operationId: 'rotateInboundSecret',
    summary: 'Replace the secret of an inbound webhook by a new one',
    description:
      'During the overlap `webhook-signature` has a signature by each secret, and `X-SVC-Webhook-Signature` is made by the old one.',
    admission,
    params: webhookParams,
    body: rotateSecretBody,
    ok: { description: 'The webhook and its new secret', schema: webhookWithSecretSchema },
    rejections: {
      400: {
        description: 'The body is not valid',
        error: {
          status: 400,
          code: 'validation-failed',
          text: 'The request body must be a JSON object',
        },
      },
      404: NO_WEBHOOK,
      409: {
        description: 'The overlap of an earlier rotation goes on',
        error: rejectionError({ kind: 'secret-in-rotation' }),
      },
    },
    async handle({ params: { project, phoneNumber }, body, request }) {
      const { overlapMinutes = SECRET_OVERLAP_MINUTES_DEFAULT } = body;
      const overlapMs = overlapMinutes * millisecondsInMinute;
      const actor = actorOf(request);
      return ok(withSecret(await manageInboundWebhooks.rotateSecret(actor, project, phoneNumber, overlapMs)));
    },
  });

  const tag = { name: 'Inbound webhooks', description: 'Where messages to whatsapp numbers go.' };
  return { tag, envelope: usualEnvelope, routes: [create, list, change, remove, rotate] };
}

function present({ webhook, now }: ListedWebhook): z.input<typeof webhookSchema> {
  const endsAt = overlapEndsAt(webhook, now);
  return {
    whatsappPhoneId: webhook.whatsappPhoneId,
    url: webhook.url,
    overlapEndsAt: isoOrNull(endsAt),
  };
}

function withSecret(made: WebhookWithSecret) {
  return { ...present(made), secret: made.secret };
}
