import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Project } from '../../../domain/access/project.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { errorReply } from './error-bodies.ts';
import { type ErrorReply, type HttpReply, invalid } from './http-reply.ts';
import { readJson } from './json-body.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';
export type PathParams = Readonly<Record<string, string>>;

/** One status a route can answer, beside those that every route of its kind shares. */
export interface DocumentedReply<Body = unknown> {
  readonly description: string;
  readonly schema: z.ZodType<Body>;
  /** Names of response headers beyond those every answer has. */
  readonly headers?: readonly string[];
}

export interface DocumentedHeader {
  readonly name: string;
  readonly description: string;
  readonly pattern: string;
}

interface Documentation {
  readonly method: Method;
  /** In the framework's notation, `:name` for a parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly requestHeaders?: readonly DocumentedHeader[];
  /** The statuses other than 200. */
  readonly rejections?: Readonly<Record<number, DocumentedReply>>;
  /** The body of an unexpected fault, where the specification wants another than the usual one. */
  readonly fault?: ErrorReply;
  /** Answered even when the process serves as many requests as it may. */
  readonly bypassesLoadShedding?: boolean;
}

/** What a handler gets: who calls, and what they sent, checked and typed. */
export interface Input<Caller, Query, Body> {
  readonly project: Caller;
  /** As they stand in the path, decoded and unchecked: an id of the wrong form is simply unknown. */
  readonly params: PathParams;
  readonly query: Query;
  readonly body: Body;
  /** The body before validation, unknown fields included. */
  readonly rawBody: unknown;
  readonly request: IncomingMessage;
}

interface Declaration<Ok, Caller, Query extends z.ZodObject, Body extends z.ZodType> extends Documentation {
  /** Finds out who calls, before anything else is looked at; throws for a caller that may not. */
  readonly admit: (request: IncomingMessage) => Promise<Caller>;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyBytesMax?: number;
  readonly ok: DocumentedReply<Ok>;
  readonly handle: (input: Input<Caller, z.output<Query>, z.output<Body>>) => Promise<HttpReply<Ok>>;
}

/** A declared route: what is served, what is documented, and what answers are checked against. */
export interface Route extends Documentation {
  readonly needsKey: boolean;
  readonly query: z.ZodObject | null;
  readonly body: z.ZodType | null;
  readonly ok: DocumentedReply;
  /** Resolves with the answer, rejections included; rejects only on a fault or a lost connection. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    params: PathParams,
  ) => Promise<HttpReply>;
}

/** Declares a route that any caller may use. */
export function openRoute<Ok>(
  declaration: Omit<Declaration<Ok, null, z.ZodObject, z.ZodType>, 'admit' | 'query' | 'body'>,
): Route {
  return declare({ ...declaration, admit: async () => null }, false);
}

/** Declares a route for callers with a project key; checked in the order key, body, query. */
export function route<Ok, Query extends z.ZodObject = z.ZodObject, Body extends z.ZodType = z.ZodType>(
  declaration: Declaration<Ok, Project, Query, Body>,
): Route {
  return declare(declaration, true);
}

function declare<Ok, Caller, Query extends z.ZodObject, Body extends z.ZodType>(
  declaration: Declaration<Ok, Caller, Query, Body>,
  needsKey: boolean,
): Route {
  const { admit, query, body, bodyBytesMax = BODY_BYTES_MAX, handle, ...documentation } = declaration;

  const attempt = async (request: IncomingMessage, response: ServerResponse, params: PathParams) => {
    const project = await admit(request);
    const rawBody = body === undefined ? undefined : await readJson(request, response, bodyBytesMax);
    return handle({
      project,
      params,
      query: (query === undefined ? {} : checked(query, queryValues(request, query))) as z.output<Query>,
      body: (body === undefined ? undefined : checked(body, rawBody)) as z.output<Body>,
      rawBody,
      request,
    });
  };

  return {
    ...documentation,
    needsKey,
    query: query ?? null,
    body: body ?? null,
    async serve(request, response, params) {
      try {
        return await attempt(request, response, params);
      } catch (error) {
        const answer = errorReply(error);
        if (answer === null) throw error;
        return answer;
      }
    },
  };
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(result.error.issues[0]?.message ?? 'The request is not valid');
}

/** The declared query parameters as given; a name that comes twice is nobody's single value. */
function queryValues(request: IncomingMessage, schema: z.ZodObject): PathParams {
  const url = request.url ?? '';
  const start = url.indexOf('?');
  if (start === -1) return {};
  const given = new URLSearchParams(url.slice(start + 1));
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const [value, ...more] = given.getAll(name);
    if (more.length > 0) throw invalid(`${name} must be given once`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}
