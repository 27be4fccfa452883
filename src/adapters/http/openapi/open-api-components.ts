import type { z } from 'zod';
import { REQUEST_ID_CHARACTERS_MAX } from '../limits.ts';
import { ERROR_CODES } from '../routing/error-codes.ts';
import { type ErrorEnvelope, type HttpError, usualEnvelope } from '../routing/http-error.ts';
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
} from '../routing/known-errors.ts';
import type { Route } from '../routing/route.ts';
import { PREFER_HEADER } from '../routing/unknown-fields.ts';

type Schema = Readonly<Record<string, unknown>>;

interface DocumentedHeader {
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

const HEADERS: Readonly<Record<string, DocumentedHeader>> = {
  'X-Request-Id': {
    description: 'The id of the request: the one it brought, else a new one',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: REQUEST_ID_CHARACTERS_MAX },
  },
  'X-Error-Code': {
    description: 'A stable name of the rejection',
    required: true,
    schema: { type: 'string', enum: ERROR_CODES },
  },
  'Retry-After': {
    description: 'Seconds to wait',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'Idempotency-Replayed': {
    description: 'Present when this is the reply to an earlier request with the same Idempotency-Key',
    required: false,
    schema: { type: 'string', const: 'true' },
  },
  'Content-Disposition': {
    description: 'The name of the file',
    required: true,
    schema: { type: 'string', pattern: '^attachment; filename="[A-Za-z0-9._-]+"$' },
  },
  'X-Unknown-Fields': {
    description: 'Fields of the request that do not exist, separated by commas; they were ignored',
    required: false,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_.-]+(, [A-Za-z0-9_.-]+)*$' },
  },
  Allow: { description: 'The methods of the path', required: true, schema: { type: 'string' } },
  'WWW-Authenticate': {
    description: 'How to authenticate',
    required: true,
    schema: { type: 'string', enum: ['Bearer', 'Signature'] },
  },
};

/** The components/headers part of the document. */
export function headerComponents() {
  return HEADERS;
}

/** References to the headers of a reply; X-Request-Id comes with each. */
export function headerReferences(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

interface SharedError {
  readonly description: string;
  readonly error: HttpError;
}

const METHOD_NOT_ALLOWED = methodNotAllowed('GET, HEAD, OPTIONS');

/** The errors that many routes, or no route at all, can reply with. */
const SHARED_ERRORS: Readonly<Record<string, SharedError>> = {
  Unauthorized: { description: 'The key is missing or wrong', error: UNAUTHORIZED },
  AddressNotAllowed: { description: 'The address is not allowed', error: ADDRESS_NOT_ALLOWED },
  BodyTooLarge: { description: 'The body is too large', error: BODY_TOO_LARGE },
  UnsupportedMediaType: { description: 'The body is not JSON in UTF-8', error: UNSUPPORTED_MEDIA_TYPE },
  InternalError: { description: 'A fault of the service', error: INTERNAL_ERROR },
  Overloaded: { description: 'Too many requests are in flight', error: OVERLOADED },
  NotFound: { description: 'No such path', error: NOT_FOUND },
  MethodNotAllowed: {
    description: 'The path does not have this method',
    error: METHOD_NOT_ALLOWED,
  },
  MalformedRequest: { description: 'Not a valid HTTP request', error: MALFORMED_REQUEST },
  RequestTimeout: { description: 'The request did not arrive in time', error: REQUEST_TIMEOUT },
  ExpectationFailed: {
    description: 'An Expect header that is not supported',
    error: EXPECTATION_FAILED,
  },
  HeadersTooLarge: { description: 'The headers are too large', error: HEADERS_TOO_LARGE },
};

/**
 * The components/responses part of the document: the shared errors in the usual envelope. No route documents the 405 of
 * a path, so its response has the envelopes of all families.
 */
export function sharedResponses(envelopes: readonly ErrorEnvelope[]): Record<string, unknown> {
  const errors = Object.entries(SHARED_ERRORS).map(([name, { description, error }]) => [
    name,
    responseOf(description, error, usualEnvelope, error === METHOD_NOT_ALLOWED ? envelopes : []),
  ]);
  return {
    ...Object.fromEntries(errors),
    AllowedMethods: {
      description: 'The methods of the path, as the reply to OPTIONS',
      headers: headerReferences(['Allow']),
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { methods: { type: 'array', items: { type: 'string' } } },
            required: ['methods'],
          },
        },
      },
    },
  };
}

/** An error in the envelope of a family: a reference when it is a shared one in the usual envelope. */
export function errorResponse(error: HttpError, envelope: ErrorEnvelope): unknown {
  const shared = Object.entries(SHARED_ERRORS).find((entry) => entry[1].error === error);
  if (shared === undefined) return responseOf(error.text, error, envelope);
  const [name, { description }] = shared;
  const isUsual = JSON.stringify(envelope(error)) === JSON.stringify(usualEnvelope(error));
  return isUsual ? { $ref: `#/components/responses/${name}` } : responseOf(description, error, envelope);
}

/** The schema of the errors of one status in an envelope. */
export function errorSchema(status: number, envelope: ErrorEnvelope): Schema {
  return schemaOf(envelope({ status, code: 'validation-failed', text: '' }));
}

/** The path, query and header parameters of a route. */
export function parametersOf(route: Route, jsonSchemaOf: (schema: z.ZodType) => Schema): readonly unknown[] {
  const { params, query, body, requestHeaders = [] } = route;
  const headers = body === null ? requestHeaders : [...requestHeaders, PREFER_HEADER];
  return [
    ...membersOf(params ?? null, jsonSchemaOf).map(({ name, schema }) => ({
      name,
      in: 'path',
      required: true,
      schema,
    })),
    ...membersOf(query, jsonSchemaOf).map(({ name, schema, required }) => ({
      name,
      in: 'query',
      required,
      schema,
    })),
    ...headers.map(({ name, description, pattern }) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string', pattern },
    })),
  ];
}

function membersOf(schema: z.ZodObject | null, jsonSchemaOf: (schema: z.ZodType) => Schema) {
  if (schema === null) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(schema) as {
    properties?: Record<string, Schema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    required: required.includes(name),
  }));
}

function responseOf(
  description: string,
  error: HttpError,
  envelope: ErrorEnvelope,
  others: readonly ErrorEnvelope[] = [],
) {
  const { headers = [] } = error;
  const names = headers.filter((_, index) => index % 2 === 0);
  const example = envelope(error);
  const bodies = new Map(
    [envelope, ...others].map((each) => each(error)).map((body) => [JSON.stringify(body), body]),
  );
  const [schema, ...more] = [...bodies.values()].map(schemaOf);
  return {
    description,
    headers: headerReferences(['X-Error-Code', ...names]),
    content: {
      'application/json': { schema: more.length === 0 ? schema : { anyOf: [schema, ...more] }, example },
    },
  };
}

/** The schema of a body by its example: texts may differ, everything else is constant. */
function schemaOf(body: Readonly<Record<string, unknown>>): Schema {
  const properties = Object.entries(body).map(([name, value]): [string, Schema] => [
    name,
    schemaOfValue(value),
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required: Object.keys(body) };
}

function schemaOfValue(value: unknown): Schema {
  if (typeof value === 'string') return { type: 'string' };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? schemaOf(value as Readonly<Record<string, unknown>>) : { const: value };
}
