import { z } from 'zod';
import { DOCS_FILES_MAX, DOCS_FILES_PER_ADDRESS_MAX } from '../limits.ts';
import { usualEnvelope } from '../replies/http-error.ts';
import { html, ok, text as textReply } from '../replies/http-reply.ts';
import { anyone } from '../routing/admission.ts';
import { SERVICE_TAG } from '../routing/documented.ts';
import { route } from '../routing/route.ts';
import type { RouteFamily } from '../routing/route-declaration.ts';
import { UnsentReplies } from '../routing/unsent-replies.ts';
import { DOCS_POLICY, DOCS_SCRIPT, DOCS_STYLE, docsFile, docsPage } from './docs-page.ts';
import { OPENAPI_VERSION, type OpenApi } from './open-api.ts';

/** An OpenAPI document as a reply. */
export const documentSchema = z
  .looseObject({
    openapi: z
      .string()
      .meta({ description: 'The version of the standard; the rest follows', examples: [OPENAPI_VERSION] }),
  })
  .meta({ id: 'OpenApiDocument', description: 'The OpenAPI document' });

/** The family that serves the document and a page that shows it. `document` is asked for at the first request. */
export function openApiRoutes(document: () => OpenApi): RouteFamily {
  let bytes: Buffer | undefined;
  const unsentReplies = new UnsentReplies({ perAddress: DOCS_FILES_PER_ADDRESS_MAX, all: DOCS_FILES_MAX });
  const serveDocument = route({
    method: 'get',
    path: '/openapi.json',
    operationId: 'openApi',
    summary: 'Read this document',
    description: 'OpenAPI 3.1, made from the schemas that validate requests.',
    admission: anyone,
    unsentReplies,
    ok: { description: 'The OpenAPI document', schema: documentSchema },
    async handle() {
      bytes ??= Buffer.from(JSON.stringify(document()));
      return { ...ok(document()), bytes };
    },
  });

  const page = route({
    method: 'get',
    path: '/docs',
    operationId: 'docs',
    summary: 'Read this document as a page, and try the endpoints',
    description:
      'A page for browsers. It loads the two files below it and this document, and nothing from another host.',
    admission: anyone,
    ok: { description: 'The page', kind: 'html', headers: ['Content-Security-Policy'] },
    async handle({ request: { url = '' } }) {
      const hasSlash = url.split('?', 1)[0]?.endsWith('/') ?? false;
      return html(docsPage(hasSlash), ['Content-Security-Policy', DOCS_POLICY]);
    },
  });

  const files = [
    { ...DOCS_STYLE, operationId: 'docsStyle', summary: 'The style of the page' },
    { ...DOCS_SCRIPT, operationId: 'docsScript', summary: 'The script of the page' },
  ].map(({ name, mediaType, operationId, summary }) =>
    route({
      method: 'get',
      path: `/docs/${name}`,
      operationId,
      summary,
      description: 'A file of Swagger UI, as its package has it.',
      admission: anyone,
      unsentReplies,
      ok: { description: 'The file', kind: 'text', mediaType },
      handle: async () => textReply(await docsFile(name), mediaType),
    }),
  );

  return { tag: SERVICE_TAG, envelope: usualEnvelope, routes: [serveDocument, page, ...files] };
}
