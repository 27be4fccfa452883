import { adminErrorCode } from '../replies/error-bodies.ts';
import { usualEnvelope } from '../replies/http-error.ts';
import { ok } from '../replies/http-reply.ts';
import type { Admission } from '../routing/admission.ts';
import { route } from '../routing/route.ts';
import type { RouteFamily } from '../routing/route-declaration.ts';
import type { DocumentHead, OpenApi } from './open-api.ts';
import { documentSchema } from './open-api-routes.ts';

/** The head of the document of the admin interface. */
export const ADMIN_HEAD: DocumentHead = {
  title: 'Barid admin',
  description: `Projects, API keys and money, for the operators of an installation.

- **Token.** Every endpoint takes \`ADMIN_TOKEN\` of the service: \`Authorization: Bearer …\`.
- **Amounts** are IQD with at most three decimals.
- **Cursors** are opaque: \`next\` of a page is \`cursor\` of the next one.
- **Audit log.** Each change is recorded in the transaction that makes it.`,
  errorCode: adminErrorCode,
};

/** The family that serves the document of the admin interface to the operator only. */
export function adminDocumentRoutes<Caller>(
  admission: Admission<Caller>,
  document: () => OpenApi,
): RouteFamily {
  const serveDocument = route({
    method: 'get',
    path: '/admin/openapi.json',
    operationId: 'adminOpenApi',
    summary: 'Read this document',
    description: 'OpenAPI 3.1, made from the schemas that validate requests.',
    admission,
    ok: { description: 'The OpenAPI document', schema: documentSchema },
    handle: async () => ok(document()),
  });
  const tag = { name: 'Document', description: 'This description of the admin interface.' };
  return { tag, envelope: usualEnvelope, routes: [serveDocument] };
}
