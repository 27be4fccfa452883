import { z } from 'zod';
import { anyone } from '../routing/admission.ts';
import { type ErrorEnvelope, usualEnvelope } from '../routing/http-error.ts';
import { ok } from '../routing/http-reply.ts';
import { BODY_TOO_LARGE, INTERNAL_ERROR, OVERLOADED, unsupportedMediaType } from '../routing/known-errors.ts';
import { JSON_TYPE } from '../routing/request-body.ts';
import {
  type DocumentedError,
  type DocumentedReply,
  type Route,
  type RouteFamily,
  route,
} from '../routing/route.ts';
import { UNKNOWN_FIELDS_HEADERS } from '../routing/unknown-fields.ts';
import {
  errorResponse,
  errorSchema,
  headerComponents,
  headerReferences,
  parametersOf,
  sharedResponses,
} from './open-api-components.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

/** An OpenAPI 3.1 document, as far as this program reads it. */
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
  'Every error is JSON. The reply to an unknown path is 404, to a method that a path does not have 405, and to',
  'what is no valid HTTP request 400, 408, 417 or 431 (see components/responses).',
].join(' ');

const MEDIA_TYPES = { text: 'text/plain', html: 'text/html', events: 'text/event-stream' };
const ANY_MEDIA_TYPE = '*/*';
const TEXT_SCHEMA = { type: 'string' };
const BYTES_SCHEMA = { type: 'string', format: 'binary' };

/** The document of the declared routes, the one that serves it included. Replies are open objects: fields may be added, never removed. */
export function openApiDocument(families: readonly RouteFamily[]): OpenApi {
  const paths: Record<string, Record<string, Operation>> = {};
  const securitySchemes: Record<string, unknown> = {};
  for (const { envelope, routes } of [...families, openApiRoutes(null)]) {
    for (const declared of routes) {
      const path = documentedPath(declared.path);
      paths[path] = { ...paths[path], [declared.method]: operationOf(declared, envelope) };
      const { scheme } = declared.admission;
      if (scheme !== null) securitySchemes[scheme.name] = scheme.definition;
    }
  }
  return {
    openapi: OPENAPI_VERSION,
    info: { title: 'Barid', version: INTERFACE_VERSION, description: DESCRIPTION },
    servers: [{ url: '/' }, { url: '/api' }],
    paths,
    components: {
      securitySchemes,
      headers: headerComponents(),
      responses: sharedResponses(families.map(({ envelope }) => envelope)),
    },
  };
}

/** The family that serves the document; null stands for one that is still being made. */
export function openApiRoutes(document: OpenApi | null): RouteFamily {
  const serveDocument = route({
    method: 'get',
    path: '/openapi.json',
    operationId: 'openApi',
    summary: 'Read this document',
    admission: anyone,
    ok: { description: 'The OpenAPI document', schema: z.looseObject({ openapi: z.string() }) },
    handle: async () => ok(document ?? { openapi: OPENAPI_VERSION }),
  });
  return { envelope: usualEnvelope, routes: [serveDocument] };
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

/** The schema of a request, whose optional fields may be null: null is the same as absent. */
function withNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNulls);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNulls(value)]));
  const { properties, required = [] } = copy as { properties?: object; required?: readonly string[] };
  if (properties === undefined) return copy;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    required.includes(name) ? field : { anyOf: [field, { type: 'null' }] },
  ]);
  return { ...copy, properties: Object.fromEntries(fields) };
}

function operationOf(declared: Route, envelope: ErrorEnvelope): Operation {
  const { operationId, summary, admission } = declared;
  const parameters = parametersOf(declared, jsonSchemaOf);
  const requestBody = requestBodyOf(declared);
  return {
    operationId,
    summary,
    security: admission.scheme === null ? [] : [{ [admission.scheme.name]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== null && { requestBody }),
    responses: responsesOf(declared, envelope),
  };
}

function requestBodyOf({ body, rawBody }: Route): unknown {
  if (body !== null)
    return { required: true, content: { [JSON_TYPE]: { schema: withNulls(jsonSchemaOf(body)) } } };
  if (rawBody === null) return null;
  const { description, mediaType } = rawBody;
  return { description, required: true, content: { [mediaType]: { schema: BYTES_SCHEMA } } };
}

/** The reply to a query that does not fit its schema. */
const INVALID_QUERY = { 400: { description: 'A query parameter is not valid' } };

function responsesOf(declared: Route, envelope: ErrorEnvelope): Record<string, unknown> {
  const { admission, query, body, rawBody, bypassesLoadShedding = false, fault = INTERNAL_ERROR } = declared;
  const mediaType = body === null ? rawBody?.mediaType : JSON_TYPE;
  const errors = [
    fault,
    ...(bypassesLoadShedding ? [] : [OVERLOADED]),
    ...admission.errors,
    ...(mediaType === undefined ? [] : [BODY_TOO_LARGE, unsupportedMediaType(mediaType)]),
  ];
  const rejections = { ...(query === null ? {} : INVALID_QUERY), ...declared.rejections };
  return {
    200: replyResponse(declared.ok, body === null ? [] : UNKNOWN_FIELDS_HEADERS),
    ...(declared.accepted !== undefined && {
      202: replyResponse(declared.accepted, body === null ? [] : UNKNOWN_FIELDS_HEADERS),
    }),
    ...Object.fromEntries(errors.map((error) => [error.status, errorResponse(error, envelope)])),
    ...Object.fromEntries(
      Object.entries(rejections).map(([status, rejection]) => [
        status,
        rejectionResponse(Number(status), rejection, envelope),
      ]),
    ),
  };
}

function replyResponse(reply: DocumentedReply, moreHeaders: readonly string[]) {
  const { description, headers = [] } = reply;
  const { content, ownHeaders } = contentOf(reply);
  return { description, headers: headerReferences([...headers, ...ownHeaders, ...moreHeaders]), content };
}

function contentOf(reply: DocumentedReply) {
  if ('schema' in reply)
    return { content: { [JSON_TYPE]: { schema: jsonSchemaOf(reply.schema) } }, ownHeaders: [] };
  if (reply.kind === 'file') {
    const content = { [reply.mediaType ?? ANY_MEDIA_TYPE]: { schema: BYTES_SCHEMA } };
    return { content, ownHeaders: ['Content-Disposition'] };
  }
  return { content: { [MEDIA_TYPES[reply.kind]]: { schema: TEXT_SCHEMA } }, ownHeaders: [] };
}

function rejectionResponse(
  status: number,
  { description, schema, headers = [] }: DocumentedError,
  envelope: ErrorEnvelope,
) {
  const documented = schema === undefined ? errorSchema(status, envelope) : jsonSchemaOf(schema);
  return {
    description,
    headers: headerReferences(['X-Error-Code', ...headers]),
    content: { [JSON_TYPE]: { schema: documented } },
  };
}
