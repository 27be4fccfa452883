import type { z } from 'zod';
import { isJsonObject } from '../../../domain/shared/same-json.ts';
import { JSON_TYPE } from '../input/request-body.ts';
import { REQUEST_ID_CHARACTERS_MAX } from '../limits.ts';
import { errorBody, messageBody } from '../replies/error-bodies.ts';
import { type ErrorEnvelope, type HttpError, usualEnvelope } from '../replies/http-error.ts';
import {
  ADDRESS_NOT_ALLOWED,
  BODY_TOO_LARGE,
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  methodNotAllowed,
  NOT_FOUND,
  OVERLOADED,
  REQUEST_TIMEOUT,
  UNAUTHORIZED,
  UNSUPPORTED_MEDIA_TYPE,
} from '../replies/known-errors.ts';
import type { DocumentedHeader } from '../routing/documented.ts';
import type { Route } from '../routing/route-declaration.ts';
import { PREFER_HEADER } from '../routing/unknown-fields.ts';
import { exampleOf } from './examples.ts';
import type { JsonSchema, SchemaWriter } from './schemas.ts';

interface ReplyHeader {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: string;
}

const HEADERS: Readonly<Record<string, ReplyHeader>> = {
  'X-Request-Id': {
    description: 'The id of the request: the one it brought, else a new one',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: REQUEST_ID_CHARACTERS_MAX },
    example: '5f0c1f9e-8a36-4c1e-9d0a-6b0a3c1b7e42',
  },
  'X-Error-Code': {
    description: 'A stable name of the rejection',
    required: true,
    schema: { $ref: '#/components/schemas/ErrorCode' },
    example: 'insufficient-credit',
  },
  'Retry-After': {
    description: 'Seconds to wait',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '600',
  },
  'Idempotency-Replayed': {
    description: 'Present when this is the reply to an earlier request with the same Idempotency-Key',
    required: false,
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'Content-Disposition': {
    description: 'The name of the file',
    required: true,
    schema: { type: 'string', pattern: '^attachment; filename="[A-Za-z0-9._-]+"$' },
    example: 'attachment; filename="report.csv"',
  },
  'Content-Security-Policy': {
    description: 'What the page may load: nothing from another host',
    required: true,
    schema: { type: 'string' },
    example: "default-src 'none'",
  },
  'X-Unknown-Fields': {
    description: 'Fields of the request that do not exist, separated by commas; they were ignored',
    required: false,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]+(, [A-Za-z0-9_.-]+)*$' },
    example: 'deliveryReport.webhookURL',
  },
  Allow: {
    description: 'The methods of the path',
    required: true,
    schema: { type: 'string' },
    example: 'GET, HEAD, OPTIONS',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate',
    required: true,
    schema: { type: 'string', enum: ['Bearer', 'Signature'] },
    example: 'Bearer',
  },
};

interface SharedError {
  readonly description: string;
  readonly error: HttpError;
}

/** The errors that many routes can reply with. */
const SHARED_ERRORS: Readonly<Record<string, SharedError>> = {
  Unauthorized: { description: 'The key is missing or wrong', error: UNAUTHORIZED },
  AddressNotAllowed: { description: 'The address is not allowed', error: ADDRESS_NOT_ALLOWED },
  BodyTooLarge: { description: 'The body is too large', error: BODY_TOO_LARGE },
  UnsupportedMediaType: { description: 'The body is not JSON in UTF-8', error: UNSUPPORTED_MEDIA_TYPE },
  InternalError: { description: 'A fault of the service', error: INTERNAL_ERROR },
  Overloaded: { description: 'Too many requests are in flight', error: OVERLOADED },
  NotFound: { description: 'No such path', error: NOT_FOUND },
  MalformedRequest: { description: 'Not a valid HTTP request', error: MALFORMED_REQUEST },
};

/** The replies of no operation, apart from that to OPTIONS. */
const ERRORS_WITHOUT_OPERATION: Readonly<Record<string, SharedError>> = {
  NotFound: { description: 'No such path', error: NOT_FOUND },
  MalformedRequest: { description: 'Not a valid HTTP request', error: MALFORMED_REQUEST },
  RequestTimeout: { description: 'The request did not arrive in time', error: REQUEST_TIMEOUT },
  ExpectationFailed: { description: 'An Expect header that is not supported', error: EXPECTATION_FAILED },
  HeadersTooLarge: { description: 'The headers are too large', error: HEADERS_TOO_LARGE },
  Overloaded: { description: 'Too many requests of one connection without a reply', error: OVERLOADED },
  MethodNotAllowed: {
    description: 'The path does not have this method',
    error: methodNotAllowed('GET, HEAD, OPTIONS'),
  },
};

/** Writes the responses of a document, and keeps what several of them refer to. */
export class ResponseWriter {
  readonly #writer: SchemaWriter;
  readonly #errorBodies: readonly z.ZodObject[];
  readonly #errorCode: z.ZodType;
  readonly #shared = new Map<string, unknown>();
  readonly #headers = new Set<string>();

  /**
   * `errorBodies` are the named schemas of what the envelopes of the families make; `errorCode` is the schema `ErrorCode`, of
   * X-Error-Code.
   */
  constructor(writer: SchemaWriter, errorBodies: readonly z.ZodObject[], errorCode: z.ZodType) {
    this.#writer = writer;
    this.#errorBodies = [errorBody, messageBody, ...errorBodies];
    this.#errorCode = errorCode;
  }

  /** The parts `headers` and `responses` of the components: those that were referred to. */
  get components() {
    const headers = Object.entries(HEADERS).filter(([name]) => this.#headers.has(name));
    return { headers: Object.fromEntries(headers), responses: Object.fromEntries(this.#shared) };
  }

  /** References to the headers of a reply; X-Request-Id comes with each. */
  headers(names: readonly string[]): JsonSchema {
    const all = ['X-Request-Id', ...names];
    for (const name of all) this.#headers.add(name);
    if (names.includes('X-Error-Code')) this.#writer.ofReply(this.#errorCode);
    return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  }

  /** An error in the envelope of a family: a reference when it is a shared one in the usual envelope. */
  error(error: HttpError, envelope: ErrorEnvelope): unknown {
    const shared = Object.entries(SHARED_ERRORS).find((entry) => entry[1].error === error);
    const description = shared?.[1].description ?? error.text;
    const response = this.#response(description, error, [envelope], (names) => this.headers(names));
    const isUsual = JSON.stringify(envelope(error)) === JSON.stringify(usualEnvelope(error));
    if (shared === undefined || !isUsual) return response;
    this.#shared.set(shared[0], response);
    return { $ref: `#/components/responses/${shared[0]}` };
  }

  /** The schema of an error in an envelope: a named one, else one by its example, in which texts may differ. */
  errorBody(error: HttpError, envelope: ErrorEnvelope): JsonSchema {
    const body = envelope(error);
    const named = this.#errorBodies.find(
      (schema) => hasKeys(body, Object.keys(schema.shape)) && schema.safeParse(body).success,
    );
    return named === undefined ? schemaOf(body) : this.#writer.ofReply(named);
  }

  /** The replies to unknown paths and methods, to OPTIONS, and to what is no valid request, by name. */
  withoutOperation(envelopes: readonly ErrorEnvelope[]): Readonly<Record<string, unknown>> {
    const errors = Object.entries(ERRORS_WITHOUT_OPERATION).map(([name, { description, error }]) => {
      // The 405 of a path is in the envelope of its family.
      const all = error.status === 405 ? [usualEnvelope, ...envelopes] : [usualEnvelope];
      return [name, this.#response(description, error, all, wholeHeaders)];
    });
    return { ...Object.fromEntries(errors), AllowedMethods: ALLOWED_METHODS };
  }

  #response(
    description: string,
    error: HttpError,
    envelopes: readonly ErrorEnvelope[],
    headersOf: (names: readonly string[]) => JsonSchema,
  ): JsonSchema {
    const names = (error.headers ?? []).filter((_, index) => index % 2 === 0);
    const schemas = envelopes.map((envelope) => this.errorBody(error, envelope));
    const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
    const schema = different.length === 1 ? different[0] : { anyOf: different };
    return {
      description,
      headers: headersOf(['X-Error-Code', ...names]),
      content: { [JSON_TYPE]: { schema, example: envelopes[0]?.(error) } },
    };
  }
}

/** The headers themselves, where a reference would be the only one. */
function wholeHeaders(names: readonly string[]): JsonSchema {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, HEADERS[name]]));
}

const ALLOWED_METHODS = {
  description: 'The methods of the path, as the reply to OPTIONS',
  headers: wholeHeaders(['Allow']),
  content: {
    [JSON_TYPE]: {
      schema: {
        type: 'object',
        properties: { methods: { type: 'array', items: { type: 'string' } } },
        required: ['methods'],
      },
      example: { methods: ['GET', 'HEAD', 'OPTIONS'] },
    },
  },
};

/** The path, query and header parameters of a route. */
export function parametersOf(route: Route, writer: SchemaWriter): readonly unknown[] {
  const { params, query, body, requestHeaders = [] } = route;
  const headers = body === null ? requestHeaders : [...requestHeaders, PREFER_HEADER];
  return [
    ...membersOf(params ?? null, writer).map((member) => parameter('path', { ...member, required: true })),
    ...membersOf(query, writer).map((member) => parameter('query', member)),
    ...headers.map((header) => headerParameter(header, false)),
  ];
}

/** A header of a request. */
export function headerParameter(header: DocumentedHeader, required: boolean): JsonSchema {
  const { name, description, example, pattern } = header;
  return parameter('header', { name, description, example, required, schema: { type: 'string', pattern } });
}

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description: unknown;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

/** Pages with a form fill in the example of a parameter. One that may be left out has it in its schema, which they only show. */
function parameter(place: 'path' | 'query' | 'header', given: Parameter): JsonSchema {
  const { name, required, description, schema, example } = given;
  const own = { name, in: place, required, description };
  return required ? { ...own, schema, example } : { ...own, schema: { ...schema, examples: [example] } };
}

function membersOf(schema: z.ZodObject | null, writer: SchemaWriter): readonly Parameter[] {
  if (schema === null) return [];
  const { properties = {}, required = [] } = writer.ofReply(schema) as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, member]) => {
    const { description: _, examples: __, ...own } = member;
    return {
      name,
      required: required.includes(name),
      description: writer.resolved(member).description,
      schema: own,
      example: exampleOf(member, writer),
    };
  });
}

function hasKeys(body: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return keys.length === Object.keys(body).length && keys.every((key) => Object.hasOwn(body, key));
}

/** The schema of a body by its example: texts may differ, everything else is constant. */
function schemaOf(body: Readonly<Record<string, unknown>>): JsonSchema {
  const properties = Object.entries(body).map(([name, value]): [string, JsonSchema] => [
    name,
    schemaOfValue(value),
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required: Object.keys(body) };
}

function schemaOfValue(value: unknown): JsonSchema {
  if (typeof value === 'string') return { type: 'string' };
  return isJsonObject(value) ? schemaOf(value) : { const: value };
}
