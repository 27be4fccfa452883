import type { z } from 'zod';
import { REQUEST_ID_CHARACTERS_MAX } from '../limits.ts';
import {
  BODY_TOO_LARGE,
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  methodNotAllowed,
  NOT_FOUND,
  OVERLOADED,
  REQUEST_TIMEOUT,
  rejectionReply,
  UNAUTHORIZED,
  UNSUPPORTED_MEDIA_TYPE,
} from '../routing/error-bodies.ts';
import { ERROR_CODES } from '../routing/error-codes.ts';
import type { ErrorReply } from '../routing/http-reply.ts';
import type { Route } from '../routing/route.ts';

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
    description: 'Present when this is the answer of an earlier request with the same Idempotency-Key',
    required: false,
    schema: { type: 'string', const: 'true' },
  },
  Allow: { description: 'The methods of the path', required: true, schema: { type: 'string' } },
  'WWW-Authenticate': {
    description: 'How to authenticate',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
};

/** The components/headers part of the document. */
export function headerComponents() {
  return HEADERS;
}

/** References to the headers of an answer; X-Request-Id comes with each. */
export function headerReferences(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The answers that many routes, or no route at all, can give; each with its body as an example. */
export function sharedResponses(): Record<string, unknown> {
  return {
    Unauthorized: responseOf('The key is missing or wrong', UNAUTHORIZED),
    AddressNotAllowed: responseOf('The address is not allowed', rejectionReply({ kind: 'ip-not-allowed' })),
    BodyTooLarge: responseOf('The body is too large', BODY_TOO_LARGE),
    UnsupportedMediaType: responseOf('The body is not JSON in UTF-8', UNSUPPORTED_MEDIA_TYPE),
    InternalError: responseOf('A fault of the service', INTERNAL_ERROR),
    Overloaded: responseOf('Too many requests are being answered', OVERLOADED),
    NotFound: responseOf('No such path', NOT_FOUND),
    MethodNotAllowed: responseOf(
      'The path does not have this method',
      methodNotAllowed('GET, HEAD, OPTIONS'),
    ),
    MalformedRequest: responseOf('Not a valid HTTP request', MALFORMED_REQUEST),
    RequestTimeout: responseOf('The request did not arrive in time', REQUEST_TIMEOUT),
    ExpectationFailed: responseOf('An Expect header that is not supported', EXPECTATION_FAILED),
    HeadersTooLarge: responseOf('The headers are too large', HEADERS_TOO_LARGE),
    AllowedMethods: {
      description: 'The methods of the path, as the answer to OPTIONS',
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

/** The path, query and header parameters of a route. */
export function parametersOf(route: Route, jsonSchemaOf: (schema: z.ZodType) => Schema): readonly unknown[] {
  const { params, query, requestHeaders = [] } = route;
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
    ...requestHeaders.map(({ name, description, pattern }) => ({
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

function responseOf(description: string, { body, headers = [] }: ErrorReply) {
  const names = headers.filter((_, index) => index % 2 === 0);
  const key = 'error' in body ? 'error' : 'message';
  return {
    description,
    headers: headerReferences(['X-Error-Code', ...names]),
    content: {
      'application/json': {
        schema: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] },
        example: body,
      },
    },
  };
}
