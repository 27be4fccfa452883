import { z } from 'zod';
import type { ManageSenderIds } from '../../../../../application/operators/manage-sender-ids.ts';
import { fromIqd, inIqd } from '../../../../../domain/billing/pricing.ts';
import type { ManagedSenderId } from '../../../../../domain/senders/managed-sender-id.ts';
import { nextCursor, placeOf } from '../../../input/cursor.ts';
import { usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import type { DocumentedError } from '../../../routing/documented.ts';
import { route } from '../../../routing/route.ts';
import type { Input, ParamsOf, RouteFamily } from '../../../routing/route-declaration.ts';
import { invalidBody, NO_PROJECT } from '../documented-errors.ts';
import { actorOf } from '../request-actor.ts';
import { projectParams } from '../shared-schemas.ts';
import {
  type managedSenderId,
  priceSenderIdBody,
  rejectSenderIdBody,
  requestSenderIdBody,
  senderIdPage,
  senderIdQuery,
  managedSenderId as senderIdSchema,
  senderParams,
} from './sender-schemas.ts';

const place = z.tuple([z.string()]);

const NO_SENDER_ID: DocumentedError = {
  description: 'There is no such project, or no such sender ID of it',
  error: rejectionError({ kind: 'unknown-sender-id' }),
};

/** The sender IDs of projects, for operators. */
export function adminSenderRoutes(
  { manageSenderIds }: { readonly manageSenderIds: ManageSenderIds },
  admission: Admission<null>,
): RouteFamily {
  const page = async (project: string | null, { limit, cursor, status }: z.output<typeof senderIdQuery>) => {
    const after = placeOf(cursor, place)?.[0] ?? null;
    const { rows, next } = await manageSenderIds.list({ project, status: status ?? null }, after, limit);
    return ok({ senderIds: rows.map(presentSender), next: nextCursor(next, (id) => [id]) });
  };

  const request = route({
    method: 'post',
    path: '/admin/projects/:project/sender-ids',
    operationId: 'requestSenderId',
    summary: 'Add a sender ID that waits for a decision',
    description: 'Sends can name it once it is approved.',
    admission,
    params: projectParams,
    body: requestSenderIdBody,
    ok: { description: 'The sender ID', schema: senderIdSchema },
    rejections: {
      400: invalidBody('senderId must be 1 to 11 characters long'),
      404: NO_PROJECT,
      409: {
        description: 'The name is taken, the project is archived, or has too many sender IDs',
        error: rejectionError({ kind: 'sender-id-taken' }),
      },
    },
    async handle({ params, body: { senderId, pricePerSms }, request: from }) {
      const given = { senderId, pricePerSms: fromIqd(pricePerSms) };
      return ok(presentSender(await manageSenderIds.request(actorOf(from), params.project, given)));
    },
  });

  const ofProject = route({
    method: 'get',
    path: '/admin/projects/:project/sender-ids',
    operationId: 'listProjectSenderIds',
    summary: 'List the sender IDs of a project',
    description: 'Whatever their status, unless the query says one.',
    admission,
    params: projectParams,
    query: senderIdQuery,
    ok: { description: 'One page of sender IDs', schema: senderIdPage },
    rejections: { 404: NO_PROJECT },
    handle: ({ params, query }) => page(params.project, query),
  });

  const ofAll = route({
    method: 'get',
    path: '/admin/sender-ids',
    operationId: 'listSenderIds',
    summary: 'List the sender IDs of all projects',
    description: 'With `status=pending` those that wait for a decision.',
    admission,
    query: senderIdQuery,
    ok: { description: 'One page of sender IDs', schema: senderIdPage },
    handle: ({ query }) => page(null, query),
  });

  const setPrices = route({
    method: 'patch',
    path: '/admin/projects/:project/sender-ids/:sender',
    operationId: 'priceSenderId',
    summary: 'Change the prices of a sender ID',
    description: 'Messages that are accepted already keep their price.',
    admission,
    params: senderParams,
    body: priceSenderIdBody,
    ok: { description: 'The sender ID', schema: senderIdSchema },
    rejections: { 400: invalidBody('pricePerSms must be an object'), 404: NO_SENDER_ID },
    handle: async (input) =>
      ok(presentSender(await manageSenderIds.setPrices(...namedIn(input), fromIqd(input.body.pricePerSms)))),
  });

  const approve = route({
    method: 'post',
    path: '/admin/projects/:project/sender-ids/:sender/approve',
    operationId: 'approveSenderId',
    summary: 'Approve a sender ID',
    description: 'From then on sends can name it. A rejection can be taken back like this.',
    admission,
    params: senderParams,
    ok: { description: 'The sender ID', schema: senderIdSchema },
    rejections: { 404: NO_SENDER_ID },
    handle: async (input) => ok(presentSender(await manageSenderIds.approve(...namedIn(input)))),
  });

  const reject = route({
    method: 'post',
    path: '/admin/projects/:project/sender-ids/:sender/reject',
    operationId: 'rejectSenderId',
    summary: 'Reject a sender ID',
    description: 'From then on no send can name it. An approval can be taken back like this.',
    admission,
    params: senderParams,
    body: rejectSenderIdBody,
    ok: { description: 'The sender ID', schema: senderIdSchema },
    rejections: { 400: invalidBody('reason is required'), 404: NO_SENDER_ID },
    handle: async (input) =>
      ok(presentSender(await manageSenderIds.reject(...namedIn(input), input.body.reason))),
  });

  const tag = { name: 'Sender IDs', description: 'Names that an sms shows as its sender, and their prices.' };
  return { tag, envelope: usualEnvelope, routes: [request, ofProject, setPrices, approve, reject, ofAll] };
}

/** Who asks, and for which sender ID. */
function namedIn({
  params,
  request,
}: Pick<Input<null, ParamsOf<typeof senderParams>, unknown, unknown>, 'params' | 'request'>) {
  return [actorOf(request), params.project, params.sender] as const;
}

function presentSender(sender: ManagedSenderId): z.input<typeof managedSenderId> {
  const { id, projectId, senderId, status, reason, pricePerSms } = sender;
  return { id, project: projectId, senderId, status, reason, pricePerSms: inIqd(pricePerSms) };
}
