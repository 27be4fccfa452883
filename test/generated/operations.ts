import type { OpenApi, Operation } from '../../src/adapters/http/openapi/open-api.ts';
import type { JsonSchema } from '../../src/adapters/http/openapi/schemas.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** One operation of the document, as a generator needs it. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  /** With parameters in braces, as the document writes it. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The schema of the JSON body; null when the operation takes none. */
  readonly body: JsonSchema | null;
  /** Whether the body is a file of any type. */
  readonly takesFile: boolean;
  /** The schema of the reply 200. */
  readonly reply: JsonSchema | null;
  /** Those that are documented, in their order. */
  readonly statuses: readonly number[];
  readonly needsKey: boolean;
}

const JSON_TYPE = 'application/json';
const ANY_TYPE = '*/*';

/** Every operation of the document, in its order. */
export function operationsOf(document: OpenApi): readonly DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(document, path, method, operation)),
  );
}

function operationOf(
  document: OpenApi,
  path: string,
  method: string,
  operation: Operation,
): DocumentedOperation {
  const parameters = (operation.parameters ?? []) as readonly unknown[];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    parameters: parameters.map((each) => pointedAt(document, each) as Parameter),
    body: schemaOf(document, operation.requestBody),
    takesFile: ANY_TYPE in Object(contentOf(document, operation.requestBody)),
    reply: schemaOf(document, operation.responses['200']),
    statuses: Object.keys(operation.responses).map(Number),
    needsKey: Array.isArray(operation.security) && operation.security.length > 0,
  };
}

function schemaOf(document: OpenApi, given: unknown): JsonSchema | null {
  return contentOf(document, given)?.[JSON_TYPE]?.schema ?? null;
}

function contentOf(
  document: OpenApi,
  given: unknown,
): Readonly<Record<string, { readonly schema: JsonSchema }>> | undefined {
  return Object(pointedAt(document, given)).content;
}

/** What a local reference points to, or the value itself. */
export function pointedAt(document: OpenApi, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
  const parts = String(value.$ref).replace('#/', '').split('/');
  return pointedAt(
    document,
    parts.reduce<unknown>((found, part) => Object(found)[part], document),
  );
}
