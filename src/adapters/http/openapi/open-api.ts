import type { z } from 'zod';
import { JSON_TYPE } from '../input/request-body.ts';
import { errorCode } from '../replies/error-bodies.ts';
import type { ErrorEnvelope, HttpError } from '../replies/http-error.ts';
import {
  ANY_TYPE,
  BODY_TOO_LARGE,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  OVERLOADED,
  unsupportedMediaType,
} from '../replies/known-errors.ts';
import type { DocumentedError, DocumentedReply, DocumentedWebhook, Tag } from '../routing/documented.ts';
import type { Route, RouteFamily } from '../routing/route-declaration.ts';
import { UNKNOWN_FIELDS_HEADERS } from '../routing/unknown-fields.ts';
import { bodyExamples } from './examples.ts';
import { headerParameter, parametersOf, ResponseWriter } from './open-api-components.ts';
import { type JsonSchema, SchemaWriter } from './schemas.ts';

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

/** An OpenAPI 3.1 document, as far as this program reads it. */
export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The replies of no operation: to unknown paths and methods, to OPTIONS, and to what is no valid HTTP request. */
  readonly 'x-replies-without-operation': Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

export const OPENAPI_VERSION = '3.1.1';
const INTERFACE_VERSION = '1.0.0';
const DESCRIPTION = `Sends verification codes, texts and whatsapp templates over sms, whatsapp and telegram, alone or in fallback chains, and runs
whatsapp campaigns. It tells what became of each message, on request and by webhook, and bills in Iraqi dinar (IQD).

- **Key.** Every endpoint but those of Service and the link to the file of a report takes a project API key: \`Authorization: Bearer sk_live_…\` or \`sk_dev_…\`.
- **Errors.** Every error is JSON. Texts are for people; programs go by the status and by the header \`X-Error-Code\`. An unknown
  path gets 404, a method that a path does not have 405, what is no valid HTTP request 400, 408, 417 or 431, and
  one request too many of a connection 503 (\`x-replies-without-operation\`).
- **null** is the same as absent in every request.
- **Replies are open**: fields may be added, and none is removed or renamed.`;

/** What a document says beside the operations of its families. */
export interface DocumentHead {
  readonly title: string;
  readonly description: string;
  /** The schema `ErrorCode`. */
  readonly errorCode: z.ZodType;
}

const CUSTOMER_HEAD: DocumentHead = { title: 'Barid', description: DESCRIPTION, errorCode };

const MEDIA_TYPES = { text: 'text/plain', html: 'text/html' };
const TEXT_SCHEMA = { type: 'string' };
const BYTES_SCHEMA = { type: 'string', format: 'binary' };

/** The document of the declared routes and webhooks. Replies are open objects: fields may be added, never removed. */
export function openApiDocument(
  families: readonly RouteFamily[],
  head: DocumentHead = CUSTOMER_HEAD,
): OpenApi {
  return new DocumentWriter(families, head).write(families);
}

/** `/sms/track/:smsId` as the document writes it. */
function documentedPath(path: string): string {
  return path.replaceAll(/:([A-Za-z_]+)/g, '{$1}');
}

class DocumentWriter {
  readonly #schemas = new SchemaWriter();
  readonly #responses: ResponseWriter;

  readonly #head: DocumentHead;

  constructor(families: readonly RouteFamily[], head: DocumentHead) {
    const errorBodies = families.flatMap((family) => family.errorBodies ?? []);
    this.#head = head;
    this.#responses = new ResponseWriter(this.#schemas, errorBodies, head.errorCode);
  }

  write(families: readonly RouteFamily[]): OpenApi {
    const paths: Record<string, Record<string, Operation>> = {};
    const webhooks: Record<string, Record<string, Operation>> = {};
    const securitySchemes: Record<string, unknown> = {};
    const tags = new Map<string, Tag>();
    for (const family of families) {
      tags.set(family.tag.name, family.tag);
      for (const declared of family.routes) {
        const path = documentedPath(declared.path);
        paths[path] = { ...paths[path], [declared.method]: this.#operation(declared, family) };
        const { scheme } = declared.admission;
        if (scheme !== null) securitySchemes[scheme.name] = scheme.definition;
      }
      for (const webhook of family.webhooks ?? []) {
        webhooks[webhook.name] = { post: this.#webhook(webhook, family.tag) };
      }
    }
    const withoutOperation = this.#responses.withoutOperation(families.map(({ envelope }) => envelope));
    return {
      openapi: OPENAPI_VERSION,
      info: {
        title: this.#head.title,
        version: INTERFACE_VERSION,
        description: this.#head.description,
        license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
      },
      servers: [{ url: '/' }, { url: '/api' }],
      tags: [...tags.values()],
      paths,
      webhooks,
      components: { securitySchemes, schemas: this.#schemas.named, ...this.#responses.components },
      'x-replies-without-operation': withoutOperation,
    };
  }

  #operation(declared: Route, { tag, envelope }: RouteFamily): Operation {
    const { operationId, summary, description, admission } = declared;
    const parameters = parametersOf(declared, this.#schemas);
    const requestBody = this.#requestBody(declared);
    return {
      operationId,
      summary,
      description,
      tags: [tag.name],
      security: admission.scheme === null ? [] : [{ [admission.scheme.name]: [] }],
      ...(parameters.length > 0 && { parameters }),
      ...(requestBody !== null && { requestBody }),
      responses: this.#responsesOf(declared, envelope),
    };
  }

  #webhook(webhook: DocumentedWebhook, tag: Tag): Operation {
    const { operationId, summary, description, headers, body, examples, responses } = webhook;
    const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
    const content = { schema: this.#schemas.ofReply(body), examples: Object.fromEntries(named) };
    const told = Object.entries(responses).map(([status, text]) => [status, { description: text }]);
    return {
      operationId,
      summary,
      description,
      tags: [tag.name],
      security: [],
      parameters: headers.map((header) => headerParameter(header, header.required)),
      requestBody: { description: 'The event', required: true, content: { [JSON_TYPE]: content } },
      responses: Object.fromEntries(told),
    };
  }

  #requestBody({ body, rawBody }: Route): unknown {
    if (body !== null) {
      const schema = this.#schemas.ofRequest(body);
      const { description } = this.#schemas.resolved(schema);
      return { description, required: true, content: { [JSON_TYPE]: this.#json(schema) } };
    }
    if (rawBody === null) return null;
    const { description, mediaType } = rawBody;
    return { description, required: true, content: { [mediaType]: { schema: BYTES_SCHEMA } } };
  }

  #responsesOf(declared: Route, envelope: ErrorEnvelope): Record<string, unknown> {
    const {
      admission,
      query,
      body,
      rawBody,
      bypassesLoadShedding = false,
      fault = INTERNAL_ERROR,
    } = declared;
    const mediaType = body === null ? rawBody?.mediaType : JSON_TYPE;
    const errors = [
      fault,
      ...(bypassesLoadShedding ? [] : [OVERLOADED]),
      ...admission.errors,
      ...(mediaType === undefined ? [] : [BODY_TOO_LARGE, unsupportedMediaType(mediaType)]),
    ];
    // Every operation can get it; it is documented where a caller can do nothing else that is wrong.
    if (errors.every(({ status }) => status >= 500) && query === null) errors.unshift(MALFORMED_REQUEST);
    const bodyHeaders = body === null ? [] : UNKNOWN_FIELDS_HEADERS;
    const rejections = { ...(query === null ? {} : { 400: invalidQuery(query) }), ...declared.rejections };
    return {
      200: this.#reply(declared.ok, bodyHeaders),
      ...(declared.accepted !== undefined && { 202: this.#reply(declared.accepted, bodyHeaders) }),
      ...Object.fromEntries(errors.map((error) => [error.status, this.#responses.error(error, envelope)])),
      ...Object.fromEntries(
        Object.entries(rejections).map(([status, rejection]) => [
          status,
          this.#rejection(Number(status), rejection, envelope),
        ]),
      ),
    };
  }

  #reply(reply: DocumentedReply, moreHeaders: readonly string[]) {
    const { description, headers = [] } = reply;
    const ownHeaders = 'kind' in reply && reply.kind === 'file' ? ['Content-Disposition'] : [];
    return {
      description,
      headers: this.#responses.headers([...headers, ...ownHeaders, ...moreHeaders]),
      content: this.#content(reply),
    };
  }

  #content(reply: DocumentedReply): JsonSchema {
    if ('schema' in reply) return { [JSON_TYPE]: this.#json(this.#schemas.ofReply(reply.schema)) };
    if (reply.kind === 'file') return { [reply.mediaType ?? ANY_TYPE]: { schema: BYTES_SCHEMA } };
    return { [reply.mediaType ?? MEDIA_TYPES[reply.kind]]: { schema: TEXT_SCHEMA } };
  }

  #rejection(status: number, rejection: DocumentedError, envelope: ErrorEnvelope) {
    const { description, schema, error, headers = [] } = rejection;
    const sample: HttpError = error ?? { status, code: 'validation-failed', text: '' };
    const documented =
      schema === undefined ? this.#responses.errorBody(sample, envelope) : this.#schemas.ofReply(schema);
    const content =
      error === undefined ? this.#json(documented) : { schema: documented, example: envelope(error) };
    return {
      description,
      headers: this.#responses.headers(['X-Error-Code', ...headers]),
      content: { [JSON_TYPE]: content },
    };
  }

  #json(schema: JsonSchema): JsonSchema {
    return { schema, ...bodyExamples(schema, this.#schemas) };
  }
}

/** The error of a query that does not fit its schema. Its text is what the first parameter that can be wrong says. */
function invalidQuery(query: z.ZodObject): DocumentedError {
  const issues = Object.keys(query.shape).flatMap(
    (name) => query.safeParse({ [name]: '?' }).error?.issues.slice(0, 1) ?? [],
  );
  const text = issues[0]?.message ?? 'The request is not valid';
  return {
    description: 'A query parameter is not valid',
    error: { status: 400, code: 'validation-failed', text },
  };
}
