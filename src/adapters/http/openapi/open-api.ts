import { z } from 'zod';
import { ok } from '../routing/http-reply.ts';
import { type DocumentedReply, openRoute, type Route } from '../routing/route.ts';
import { headerComponents, headerReferences, parametersOf, sharedResponses } from './open-api-components.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

/** An OpenAPI 3.1 document, as far as this program looks into it. */
export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [more: string]: unknown;
}

const OPENAPI_VERSION = '3.1.0';
const INTERFACE_VERSION = '1.0.0';
const DESCRIPTION = [
  'Sends verification codes, texts and whatsapp templates over sms, whatsapp and telegram.',
  'Every answer is JSON. An unknown path answers 404 and a method that a path does not have 405; what is no',
  'valid HTTP request answers 400, 408, 417 or 431 (see components/responses).',
].join(' ');

/** The document of the declared routes, the one that serves it included. Answers are open objects: fields may be added, never removed. */
export function openApiDocument(routes: readonly Route[]): OpenApi {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of [...routes, openApiRoute(null)]) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  return {
    openapi: OPENAPI_VERSION,
    info: { title: 'Barid', version: INTERFACE_VERSION, description: DESCRIPTION },
    servers: [{ url: '/' }, { url: '/api' }],
    paths,
    components: {
      securitySchemes: {
        projectKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A project API key, sk_live_… or sk_dev_…',
        },
      },
      headers: headerComponents(),
      responses: sharedResponses(),
    },
  };
}

/** The route that serves the document; null stands for one that is still being made. */
export function openApiRoute(document: OpenApi | null): Route {
  return openRoute({
    method: 'get',
    path: '/openapi.json',
    operationId: 'openApi',
    summary: 'Read this document',
    ok: { description: 'The OpenAPI document', schema: z.looseObject({ openapi: z.string() }) },
    handle: async () => ok(document ?? { openapi: OPENAPI_VERSION }),
  });
}

/** `/sms/track/:smsId` as the document writes it. */
export function documentedPath(path: string): string {
  return path.replaceAll(/:([A-Za-z_]+)/g, '{$1}');
}

/** A zod schema as JSON Schema 2020-12, as it stands on the wire. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return rest;
}

function operationOf(route: Route): Operation {
  const { operationId, summary, needsKey, body } = route;
  const parameters = parametersOf(route, jsonSchemaOf);
  return {
    operationId,
    summary,
    security: needsKey ? [{ projectKey: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && {
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(body) } } },
    }),
    responses: responsesOf(route),
  };
}

function responsesOf({
  ok: success,
  rejections = {},
  needsKey,
  body,
  bypassesLoadShedding = false,
}: Route): Record<string, unknown> {
  const shared = (name: string) => ({ $ref: `#/components/responses/${name}` });
  const responses: Record<string, unknown> = {
    200: responseOf(success, false),
    500: shared('InternalError'),
    ...(!bypassesLoadShedding && { 503: shared('Overloaded') }),
    ...(needsKey && { 401: shared('Unauthorized'), 403: shared('AddressNotAllowed') }),
    ...(body !== null && { 413: shared('BodyTooLarge'), 415: shared('UnsupportedMediaType') }),
  };
  for (const [status, answer] of Object.entries(rejections)) responses[status] = responseOf(answer, true);
  return responses;
}

function responseOf({ description, schema, headers = [] }: DocumentedReply, refuses: boolean) {
  return {
    description,
    headers: headerReferences([...(refuses ? ['X-Error-Code'] : []), ...headers]),
    content: { 'application/json': { schema: jsonSchemaOf(schema) } },
  };
}
