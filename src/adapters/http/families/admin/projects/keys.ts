import { millisecondsInMinute } from 'date-fns/constants';
import { z } from 'zod';
import type { ListedKey, ManageKeys } from '../../../../../application/operators/manage-keys.ts';
import { keyIdOf, keyStatus } from '../../../../../domain/access/project-key.ts';
import { isoOf, isoOrNull } from '../../../../../domain/shared/instant.ts';
import { nextCursor, placeOf } from '../../../input/cursor.ts';
import { KEY_OVERLAP_MINUTES_DEFAULT } from '../../../limits.ts';
import { usualEnvelope } from '../../../replies/http-error.ts';
import { ok } from '../../../replies/http-reply.ts';
import { rejectionError } from '../../../replies/rejection-errors.ts';
import type { Admission } from '../../../routing/admission.ts';
import type { DocumentedError } from '../../../routing/documented.ts';
import { route } from '../../../routing/route.ts';
import type { RouteFamily } from '../../../routing/route-declaration.ts';
import { invalidBody, NO_PROJECT } from '../documented-errors.ts';
import { actorOf } from '../request-actor.ts';
import { pageQuery, projectParams } from '../shared-schemas.ts';
import { keyPage, keyParams, keySchema, newKeySchema, rotateBody, rotatedSchema } from './key-schemas.ts';
import { FRESH } from './settings-freshness.ts';

const place = z.tuple([z.int().min(0), z.string()]);

const NO_KEY: DocumentedError = {
  description: 'There is no such project, or no such key of it',
  error: rejectionError({ kind: 'key-not-found' }),
};

/** The API keys of projects, for operators. */
export function adminKeyRoutes(
  { manageKeys }: { readonly manageKeys: ManageKeys },
  admission: Admission<null>,
): RouteFamily {
  const create = route({
    method: 'post',
    path: '/admin/projects/:project/keys',
    operationId: 'createKey',
    summary: 'Make an API key',
    description: 'The reply has the key. Only a digest is stored, so the key is never shown again.',
    admission,
    params: projectParams,
    ok: { description: 'The key', schema: newKeySchema },
    rejections: {
      404: NO_PROJECT,
      409: {
        description: 'The project is archived, or has too many keys that work',
        error: rejectionError({ kind: 'project-archived' }),
      },
    },
    async handle({ params, request }) {
      const made = await manageKeys.create(actorOf(request), params.project);
      return ok({ ...presentKey(made), apiKey: made.apiKey });
    },
  });

  const list = route({
    method: 'get',
    path: '/admin/projects/:project/keys',
    operationId: 'listKeys',
    summary: 'List the API keys of a project',
    description: 'The newest first, those that do not work any more among them. A list has no whole key.',
    admission,
    params: projectParams,
    query: pageQuery,
    ok: { description: 'One page of keys', schema: keyPage },
    rejections: { 404: NO_PROJECT },
    async handle({ params, query: { limit, cursor } }) {
      const before = placeOf(cursor, place);
      const { rows, next } = await manageKeys.list(
        params.project,
        before === null ? null : { createdAt: before[0], digest: before[1] },
        limit,
      );
      return ok({
        keys: rows.map(presentKey),
        next: nextCursor(next, (place) => [place.createdAt, place.digest]),
      });
    },
  });

  const revoke = route({
    method: 'post',
    path: '/admin/projects/:project/keys/:key/revoke',
    operationId: 'revokeKey',
    summary: 'Revoke an API key',
    description: `It is rejected in every process ${FRESH}. A key that has ended stays as it is.`,
    admission,
    params: keyParams,
    ok: { description: 'The revoked key', schema: keySchema },
    rejections: { 404: NO_KEY },
    handle: async ({ params, request }) =>
      ok(presentKey(await manageKeys.revoke(actorOf(request), params.project, params.key))),
  });

  const rotate = route({
    method: 'post',
    path: '/admin/projects/:project/keys/:key/rotate',
    operationId: 'rotateKey',
    summary: 'Replace an API key by a new one',
    description: 'The old key works on for the overlap, or until an earlier end of its own.',
    admission,
    params: keyParams,
    body: rotateBody,
    ok: { description: 'The new key and the old one', schema: rotatedSchema },
    rejections: {
      400: invalidBody('The request body must be a JSON object'),
      404: NO_KEY,
      409: {
        description: 'The key does not work, the project is archived, or has too many keys that work',
        error: rejectionError({ kind: 'key-not-working' }),
      },
    },
    async handle({ params, body: { overlapMinutes = KEY_OVERLAP_MINUTES_DEFAULT }, request }) {
      const { made, replaced } = await manageKeys.rotate(
        actorOf(request),
        params.project,
        params.key,
        overlapMinutes * millisecondsInMinute,
      );
      return ok({ key: { ...presentKey(made), apiKey: made.apiKey }, replaced: presentKey(replaced) });
    },
  });

  const tag = { name: 'Keys', description: 'The API keys of a project.' };
  return { tag, envelope: usualEnvelope, routes: [create, list, revoke, rotate] };
}

function presentKey({ project, key, now }: ListedKey): z.input<typeof keySchema> {
  return {
    id: keyIdOf(key.digest),
    prefix: `sk_${project.environment}_`,
    lastFour: key.lastFour,
    status: keyStatus(key, now),
    createdAt: isoOf(key.createdAt),
    endsAt: isoOrNull(key.endsAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
  };
}
