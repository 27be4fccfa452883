import { millisecondsInMinute, millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import {
  EVENT_SETTLES_MS,
  LISTEN_MS_MAX,
  type ListenToWebhooks,
} from '../../../../../application/operators/webhooks/listen-to-webhooks.ts';
import { isoOf } from '../../../../../domain/shared/instant.ts';
import { cursorOf, placeOf } from '../../../input/cursor.ts';
import { usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { NO_PROJECT } from '../documented-errors.ts';
import { pageQuery, projectParams } from '../shared-schemas.ts';
import { listenPage } from './listen-schemas.ts';

const place = z.tuple([z.string().regex(/^[0-9a-f]{12,24}$/)]);

/** The webhook events of dev projects, for the command `barid listen`. */
export function adminListenRoutes(
  { listenToWebhooks }: { readonly listenToWebhooks: ListenToWebhooks },
  admission: Admission<null>,
): RouteFamily {
  const listen = route({
    method: 'get',
    path: '/admin/projects/:project/webhook-events',
    operationId: 'listenToWebhooks',
    summary: 'Listen to the webhook events of a dev project',
    description: `Without \`cursor\` it has no events: listening begins now. Events of the last ${EVENT_SETTLES_MS / millisecondsInSecond} seconds come again, so leave out ids that were seen. Events older than ${LISTEN_MS_MAX / millisecondsInMinute} minutes are left out. The service goes on to post them itself.`,
    admission,
    params: projectParams,
    query: pageQuery,
    ok: { description: 'Events made since the cursor', schema: listenPage },
    rejections: {
      404: NO_PROJECT,
      409: { description: 'It is a live project', error: rejectionError({ kind: 'project-not-dev' }) },
    },
    async handle({ params, query: { limit, cursor } }) {
      const after = placeOf(cursor, place)?.[0] ?? null;
      const { events, next } = await listenToWebhooks.page(params.project, after, limit);
      return ok({
        events: events.map(({ event: { id, kind, createdAt }, request: { url, headers, body } }) => ({
          id,
          kind,
          at: isoOf(createdAt),
          url,
          headers: { ...headers },
          body,
        })),
        next: cursorOf([next]),
      });
    },
  });
  const tag = { name: 'Webhook events', description: 'Webhooks of dev projects while a program is made.' };
  return { tag, envelope: usualEnvelope, routes: [listen] };
}
