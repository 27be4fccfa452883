import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import type { JsonSchema } from '../../src/adapters/http/openapi/schemas.ts';
import type { ObservedReply } from '../../src/adapters/http/server/writing/observed-reply.ts';

const JSON_TYPE = 'application/json';
/** What stands behind the media type of each reply that is a text. */
const CHARSET = '; charset=utf-8';

const DOCUMENT = 'urn:barid:openapi';

/** The responses of a request that matched no declared route. */
const ROUTELESS_RESPONSES = [
  'NotFound',
  'MalformedRequest',
  'RequestTimeout',
  'ExpectationFailed',
  'HeadersTooLarge',
  'Overloaded',
] as const;
const ROUTELESS_STATUS: Readonly<Record<(typeof ROUTELESS_RESPONSES)[number], number>> = {
  NotFound: 404,
  MalformedRequest: 400,
  RequestTimeout: 408,
  ExpectationFailed: 417,
  HeadersTooLarge: 431,
  Overloaded: 503,
};

interface DocumentedHeader {
  readonly required: boolean;
  readonly schema: JsonSchema;
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/**
 * Turns an OpenAPI document into a check of replies: it throws when the status, a header or the body of a reply
 * is not as documented. Objects are closed for this, so an undocumented field is found too.
 */
export function documentedReplies(openApi: OpenApi): (seen: ObservedReply) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  // References lead into the whole document.
  ajv.addSchema(closed({ $id: DOCUMENT, components: openApi.components }) as JsonSchema);
  const compiled = new Map<JsonSchema, ValidateFunction>();
  const validatorOf = (schema: JsonSchema): ValidateFunction => {
    const known = compiled.get(schema) ?? ajv.compile(located(closed(schema)) as JsonSchema);
    compiled.set(schema, known);
    return known;
  };

  return (seen) => {
    const where = `${seen.method || 'raw'} ${seen.route ?? '(no route)'} ${seen.status}`;
    const fail = (what: string): never => {
      throw new Error(`Undocumented reply: ${where}: ${what}\n${seen.body.slice(0, 500)}`);
    };
    const documented = responseFor(openApi, seen) ?? fail('this status is not documented');
    const mediaType = Object.keys(documented.content ?? {}).find((type) => isOfType(seen, type));
    if (mediaType === undefined) fail(`content type ${seen.headers['content-type']}`);
    if (seen.headers['cache-control'] !== 'no-store') fail('may be stored by caches');
    if (seen.headers['x-content-type-options'] !== 'nosniff') fail('may be sniffed');
    if (seen.status >= 400 !== 'x-error-code' in seen.headers) fail('X-Error-Code does not fit the status');
    for (const [name, reference] of Object.entries(documented.headers ?? {})) {
      const { required, schema } = resolve(openApi, reference) as DocumentedHeader;
      const value = seen.headers[name.toLowerCase()];
      if (value === undefined && required) fail(`${name} is missing`);
      if (value !== undefined && !validatorOf(schema)(value)) fail(`${name}: ${value}`);
    }
    if (seen.method === 'HEAD') return seen.body === '' ? undefined : fail('HEAD with a body');
    if (mediaType !== JSON_TYPE) return undefined;
    const schema = documented.content?.[JSON_TYPE]?.schema ?? fail('no body is documented');
    const validate = validatorOf(schema);
    if (!validate(JSON.parse(seen.body))) fail(ajv.errorsText(validate.errors));
    return undefined;
  };
}

function isOfType({ headers }: ObservedReply, mediaType: string): boolean {
  const given = headers['content-type'];
  return given === mediaType + CHARSET || (mediaType !== JSON_TYPE && given === mediaType);
}

function responseFor(
  openApi: OpenApi,
  { method, route, status }: ObservedReply,
): DocumentedResponse | undefined {
  const routeless = openApi['x-replies-without-operation'];
  if (route === null) {
    const name = ROUTELESS_RESPONSES.find((candidate) => ROUTELESS_STATUS[candidate] === status);
    return name === undefined ? undefined : (routeless[name] as DocumentedResponse);
  }
  const operations = openApi.paths[route.replaceAll(/:([A-Za-z_]+)/g, '{$1}')];
  const operation = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (operation !== undefined) return resolve(openApi, operation.responses[status]) as DocumentedResponse;
  if (method === 'OPTIONS' && status === 200) return routeless.AllowedMethods as DocumentedResponse;
  return status === 405 ? (routeless.MethodNotAllowed as DocumentedResponse) : undefined;
}

/** What a local reference points to, or the value itself. */
function resolve(openApi: OpenApi, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
  const [, , group = '', name = ''] = String(value.$ref).split('/');
  return openApi.components[group]?.[name];
}

/** The schema with its references made absolute. */
function located(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(located);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === '$ref' ? DOCUMENT + value : located(value)]),
  );
}

/** The schema with every object closed to fields that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in copy && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}
