import { z } from 'zod';
import type { ReadAuditLog } from '../../../../application/operators/read-audit-log.ts';
import { isoOf } from '../../../../domain/shared/instant.ts';
import { nextCursor, placeOf } from '../../input/cursor.ts';
import { usualEnvelope } from '../../replies/http-error.ts';
import { ok } from '../../replies/http-reply.ts';
import type { Admission } from '../../routing/admission.ts';
import { route } from '../../routing/route.ts';
import type { RouteFamily } from '../../routing/route-declaration.ts';
import { auditPage, auditQuery } from './audit-schemas.ts';
import { NO_PROJECT } from './documented-errors.ts';

const place = z.tuple([z.string()]);

/** The changes of operators. */
export function adminAuditRoutes(
  { readAuditLog }: { readonly readAuditLog: ReadAuditLog },
  admission: Admission<null>,
): RouteFamily {
  const list = route({
    method: 'get',
    path: '/admin/audit',
    operationId: 'listAuditRecords',
    summary: 'List the changes of operators',
    description:
      'The newest first. A record is never changed or removed, and holds no key, secret or phone number.',
    admission,
    query: auditQuery,
    ok: { description: 'One page of the audit log', schema: auditPage },
    rejections: { 404: NO_PROJECT },
    async handle({ query: { limit, cursor, project = null } }) {
      const before = placeOf(cursor, place)?.[0] ?? null;
      const { rows, next } = await readAuditLog.list(project, before, limit);
      return ok({
        records: rows.map(({ id, at, actor, action, projectId, before: earlier, after }) => ({
          id,
          at: isoOf(at),
          actor,
          action,
          project: projectId,
          before: earlier,
          after,
        })),
        next: nextCursor(next, (id) => [id]),
      });
    },
  });
  const tag = { name: 'Audit log', description: 'Every change of an operator.' };
  return { tag, envelope: usualEnvelope, routes: [list] };
}
