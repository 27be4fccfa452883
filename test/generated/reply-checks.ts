import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import type { JsonSchema } from '../../src/adapters/http/openapi/schemas.ts';
import { documentedReplies } from '../support/documented-replies.ts';
import type { RequestAction } from './actions.ts';
import { type DocumentedOperation, operationsOf } from './operations.ts';
import { textOf, type WireReply, type WireRequest } from './wire-request.ts';

/** How the library that checks bodies says it, when nobody said it better. */
const TEXT_OF_A_LIBRARY = /Invalid input|Invalid key|Unrecognized key|Too (?:small|big):/;
/** RFC 7240: a preference that is not understood is ignored. */
const IGNORED_WHEN_UNKNOWN = 'Prefer';
const USUAL_HEAD_CHARACTERS_MAX = 10_000;

/** What the checks need of a document; made once for many runs. */
export class DocumentChecks {
  readonly operations: readonly DocumentedOperation[];
  readonly #reply: ReturnType<typeof documentedReplies>;
  readonly #document: OpenApi;
  /** Lengths are those of the service, in UTF-16 code units. */
  readonly #ajv = new Ajv2020({ strict: false, unicode: false, logger: false });
  readonly #compiled = new Map<JsonSchema, ValidateFunction>();

  constructor(document: OpenApi) {
    this.#document = document;
    this.operations = operationsOf(document);
    this.#reply = documentedReplies(document);
    formats.default(this.#ajv);
  }

  #allows(schema: JsonSchema, value: unknown): boolean {
    const validate =
      this.#compiled.get(schema) ?? this.#ajv.compile({ ...schema, components: this.#document.components });
    this.#compiled.set(schema, validate);
    return validate(value) === true;
  }

  /** The operation whose reply this is, by the document; null for none. Throws when the document knows no such reply. */
  documented(action: RequestAction, request: WireRequest, reply: WireReply): DocumentedOperation | null {
    const { path } = action.operation;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const isPlain = action.pathTrick === null && !isOddPath(action) && !hasOddHeader(request);
    // An id that is empty or has slashes may make another path.
    const others = this.operations.map((each) => each.path).filter((each) => each !== path);
    const problems: string[] = [];
    for (const route of isPlain ? [path] : [path, null, ...new Set(others)]) {
      try {
        const seen = {
          method: request.method,
          route,
          status: reply.status,
          headers: reply.headers,
          body: reply.text,
        };
        this.#reply(seen);
        return this.operations.find((each) => each.path === route && each.method === method) ?? null;
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
      }
    }
    throw failure(problems.slice(0, 2).join('\n'), reply, request);
  }

  /** What the service accepts is what the document allows. */
  accepted(
    { body, parameters }: DocumentedOperation,
    action: RequestAction,
    request: WireRequest,
    reply: WireReply,
  ): void {
    if (body !== null) {
      const text = (request.body ?? Buffer.alloc(0)).toString('utf8').replace(/^\uFEFF/, '');
      if (!this.#allows(body, JSON.parse(text)))
        throw failure('A body was accepted that the document does not allow', reply, request);
    }
    for (const { name, schema, in: place } of parameters) {
      const given =
        place === 'query' ? action.query.filter(([each]) => each === name).map(([, value]) => value) : [];
      if (place === 'header' && action.headers[name] !== undefined) given.push(action.headers[name]);
      if (name === IGNORED_WHEN_UNKNOWN) continue;
      for (const value of given) {
        const text = textOf(value).trim();
        const typed = schema.type === 'integer' && /^[0-9]+$/.test(text) ? Number(text) : text;
        if (!this.#allows(schema, typed))
          throw failure(
            `The parameter ${name} was accepted, and the document does not allow it`,
            reply,
            request,
          );
      }
    }
  }

  /** The words of an error are the service's own. */
  ownWords(request: WireRequest, reply: WireReply): void {
    if (reply.status >= 400 && TEXT_OF_A_LIBRARY.test(reply.text))
      throw failure('The error is in the words of a library', reply, request);
  }
}

/** An id that may make another path of it: empty, or with what a router reads. */
function isOddPath(action: RequestAction): boolean {
  return Object.values(action.path).some((value) => !/^[A-Za-z0-9-]{1,100}$/.test(textOf(value)));
}

/** What the server replies to before it has a route: headers of the protocol, and very long ones. */
function hasOddHeader({ path, headers }: WireRequest): boolean {
  return (
    path.includes('#') ||
    path.length + JSON.stringify(headers).length > USUAL_HEAD_CHARACTERS_MAX ||
    ['Expect', 'Transfer-Encoding', 'Upgrade'].some((name) => name in headers)
  );
}

/** The body of a reply in JSON; null for every other. */
export function jsonOf({ headers, text }: WireReply): unknown {
  return headers['content-type']?.startsWith('application/json') && text !== '' ? JSON.parse(text) : null;
}

export function describeReply({ status, headers, text }: WireReply): string {
  return `${status} ${JSON.stringify(headers)}\n${text.slice(0, 1_000)}`;
}

export function failure(what: string, reply: WireReply, request?: WireRequest): Error {
  const sent =
    request === undefined
      ? ''
      : `${request.method} ${request.path.slice(0, 1_000)}\n${JSON.stringify(request.headers)}\n${request.body?.toString('utf8').slice(0, 2_000) ?? ''}\n`;
  return new Error(`${what}\n${sent}replied with ${describeReply(reply)}`);
}
