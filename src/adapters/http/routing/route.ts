import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { z } from 'zod';
import { StorageLocked } from '../../../application/errors/storage-locked.ts';
import { invariant } from '../../../domain/shared/invariant.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { ADMISSION_FRESH_MS, type Admission } from './admission.ts';
import { checkedBody, checkedQuery } from './checked-input.ts';
import type {
  DocumentedContent,
  DocumentedError,
  DocumentedHeader,
  DocumentedJson,
  DocumentedReply,
  DocumentedWebhook,
  RawBody,
  Tag,
} from './documented.ts';
import type { HeldBodies } from './held-bodies.ts';
import { ClientDisconnected, type ErrorEnvelope, type HttpError } from './http-error.ts';
import type { HttpReply, JsonReply } from './http-reply.ts';
import {
  checkAnnouncedSize,
  checkMediaType,
  decodeText,
  JSON_TYPE,
  parseJson,
  readBytes,
} from './request-body.ts';
import type { RequestPermit } from './request-permit.ts';
import { namingUnknownFields, rejectIfStrict, unknownFields } from './unknown-fields.ts';
import type { UnsentReplies } from './unsent-replies.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type PathParams = Readonly<Record<string, string>>;

interface Documentation {
  readonly method: Method;
  /** In the framework's notation, `:name` for a parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** What a caller has to know beyond the summary; CommonMark. */
  readonly description: string;
  readonly requestHeaders?: readonly DocumentedHeader[];
  /** The reply of status 202, for what is accepted and not done yet. */
  readonly accepted?: DocumentedJson;
  /** The statuses other than 200, beside those that follow from admission and query, and 413 and 415 of a body. */
  readonly rejections?: Readonly<Record<number, DocumentedError>>;
  /** What an unexpected fault is replied to with, where the specification wants another than the usual 500. */
  readonly fault?: HttpError;
  /** Served even when the process serves as many requests as it may. */
  readonly bypassesLoadShedding?: boolean;
}

/** The parameters of a path that declares these. */
export type ParamsOf<Params extends z.ZodObject> = { readonly [Name in keyof z.output<Params>]: string };

/** What a handler gets: who calls, and what they sent, checked and typed. */
export interface Input<Caller, Params, Query, Body> {
  readonly caller: Caller;
  /** As they stand in the path, decoded and unchecked: an id of the wrong form is simply unknown. */
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The JSON body before validation, unknown fields included. */
  readonly json: unknown;
  /** The body as it came; empty when the route declares none. */
  readonly bytes: Buffer;
  readonly request: IncomingMessage;
  /** The address of the client, or the /64 of one, as limits by address count it. */
  readonly network: string;
  /** Waits for something that takes long: meanwhile the request holds a connection, not a place. */
  readonly aside: <Result>(wait: () => Promise<Result>) => Promise<Result>;
}

/** The reply that a handler owes after what it documents. */
type ReplyTo<Documented> =
  Documented extends DocumentedJson<infer Body>
    ? JsonReply<Body>
    : Documented extends DocumentedContent
      ? Extract<HttpReply, { kind: Documented['kind'] }>
      : never;

/** Runs the work as soon as it lets the caller through. */
export type Gate<Caller> = <Result>(
  caller: Caller,
  work: () => Promise<Result>,
  params: PathParams,
) => Promise<Result>;

interface Declaration<
  Caller,
  Ok extends DocumentedReply,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Documentation {
  readonly admission: Admission<Caller>;
  /** Before the body is read: for all that follows the admission. */
  readonly throughGate?: Gate<Caller>;
  /**
   * Behind the body, which a caller may send as slowly as they like without keeping others from the work. Routes of projects go
   * through the project gate without it. `none` is for those of which the storage work is batched or has a gate of its own.
   */
  readonly throughWorkGate?: Gate<Caller> | 'none';
  /** What documents the parameters of the path, by their names there. */
  readonly params?: Params;
  readonly query?: Query;
  /** The schema of a JSON body. */
  readonly body?: Body;
  /** Instead of `body`. */
  readonly rawBody?: RawBody;
  readonly bodyBytesMax?: number;
  /** Counts the bodies that are read or worked on, where anybody may send one. */
  readonly heldBodies?: HeldBodies;
  /** Whether a body that has been read for long may take longer, or gets 503. Without it the request has its whole time. */
  readonly bodyMayBeSlow?: () => boolean;
  /** Counts the replies of the route, each until it has gone out, and shortly beyond that; more get 503. */
  readonly unsentReplies?: UnsentReplies;
  /** Of all objects and lists of a JSON body together; `JSON_MEMBERS_MAX` by default. */
  readonly bodyMembersMax?: number;
  readonly ok: Ok;
  readonly handle: (
    input: Input<Caller, ParamsOf<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<ReplyTo<Ok>>;
}

/** A declared route: what is served, what is documented, and what replies are checked against. */
export interface Route extends Documentation {
  readonly admission: Admission<unknown>;
  readonly params: z.ZodObject | null;
  readonly query: z.ZodObject | null;
  readonly body: z.ZodType | null;
  readonly rawBody: RawBody | null;
  /** What its requests go through behind their bodies; only those of projects go through the project gate. */
  readonly workGate: 'project' | 'own' | 'none';
  readonly ok: DocumentedReply;
  /** Resolves with the reply of the handler; rejects with what was thrown on the way. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    params: PathParams,
    permit: RequestPermit,
  ) => Promise<HttpReply>;
}

/** Routes of one subject, whose errors have one shape. */
export interface RouteFamily {
  readonly tag: Tag;
  readonly envelope: ErrorEnvelope;
  /** The named schemas of what the envelope makes, beside the usual ones of `error-bodies.ts`. */
  readonly errorBodies?: readonly z.ZodObject[];
  readonly routes: readonly Route[];
  /** The events of the same subject. */
  readonly webhooks?: readonly DocumentedWebhook[];
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Declares a route: what it takes, who may use it, what it replies with. Validation, types and the OpenAPI document
 * follow from the declaration. The checks run in the order admission, body, query. Fields of a body that the schema
 * does not know are named in the header X-Unknown-Fields, or rejected when the request says `Prefer: handling=strict`.
 *
 * A new family of routes takes two files:
 *
 * 1. `families/<name>.ts`: a function of the use cases it needs, which returns a `RouteFamily`.
 *
 *        export function campaignRoutes({ authenticateProject, campaigns }: CampaignUseCases): RouteFamily {
 *          const watch = route({
 *            method: 'get',
 *            path: '/campaigns/:id/events',
 *            operationId: 'watchCampaign',
 *            summary: 'Follow a campaign while it runs',
 *            description: 'One event for each message that is sent. The stream ends with the campaign.',
 *            params: z.object({ id: z.string().meta({ description: 'The `_id` of a campaign', examples: ['…'] }) }),
 *            admission: projectKey(authenticateProject),
 *            ok: { description: 'Its progress', kind: 'events' },
 *            rejections: { 404: { description: 'The project has no such campaign' } },
 *            handle: async ({ caller, params }) => {
 *              // What rejects the request comes first: the status is sent with the first byte of the stream.
 *              const campaign = await campaigns.find(caller, params.id);
 *              return eventStream((signal) => campaigns.progress(campaign, signal));
 *            },
 *          });
 *          const tag = { name: 'Campaigns', description: 'One template for many phone numbers.' };
 *          return { tag, envelope: usualEnvelope, routes: [watch] };
 *        }
 *
 * 2. `bootstrap/routes/customer-routes.ts`: one line that calls this function.
 *
 * Each field of a request or a reply says what it is at its own place, with `.meta({ description, examples })` as its last
 * call. A schema with an `id` in its `.meta` becomes a named one, `components/schemas/<id>`, and is referred to wherever it
 * is used. Examples of bodies are made of those of the fields; an object with `examples` of its own stands for itself.
 *
 * docs/adding-an-adapter.md says which files a new endpoint touches.
 *
 * Requests of projects are worked on a few at a time, by project in rotation; `throughWorkGate` says otherwise.
 *
 * The reply is `ok` (JSON), `text`, `html`, `file` or `eventStream`. The admission is `projectKey`, `operatorToken`
 * or `anyone`. `body` declares JSON, `rawBody` bytes. A handler rejects a request with
 * `new RequestRejected({ status, code, text })`, a use case with `Rejected`; the envelope of the family makes the
 * body. Most families use `usualEnvelope`.
 */
export function route<
  Caller,
  Ok extends DocumentedReply,
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
>(declaration: Declaration<Caller, Ok, Params, Query, Body>): Route {
  const {
    params: documentedParams,
    query,
    body,
    rawBody,
    bodyBytesMax = BODY_BYTES_MAX,
    heldBodies,
    bodyMayBeSlow,
    unsentReplies,
    bodyMembersMax,
    throughGate,
    throughWorkGate,
    handle,
    ...documentation
  } = declaration;
  const { admission, method, path } = documentation;
  const documented = Object.keys(documentedParams?.shape ?? {});
  invariant(
    namesIn(path).join() === documented.join(),
    `${method} ${path} documents each parameter of its path`,
  );
  const mediaType = body === undefined ? rawBody?.mediaType : JSON_TYPE;

  const receive = (
    request: IncomingMessage,
    response: ServerResponse,
    permit: RequestPermit,
  ): Promise<Buffer> => {
    checkAnnouncedSize(request, bodyBytesMax);
    if (mediaType !== undefined) checkMediaType(request, mediaType);
    // A caller who sends slowly holds a connection, not a place.
    permit.suspend();
    const onHeld = heldBodies && ((bytes: number) => heldBodies.hold(request, bytes, permit.network));
    return readBytes(request, response, bodyBytesMax, { onHeld, mayBeSlow: bodyMayBeSlow });
  };

  const work = async (
    { caller: first, admittedAt, request, params, permit }: Admitted<Caller>,
    bytes: Buffer,
  ): Promise<HttpReply> => {
    if (mediaType !== undefined) {
      const mayParse = permit.waitToParse(bytes.length);
      if (mayParse !== null) await mayParse;
    }
    const isFresh = performance.now() - admittedAt < ADMISSION_FRESH_MS;
    const caller = isFresh ? first : await admission.admit(request, permit);
    const text = body === undefined ? '' : decodeText(bytes);
    const json = body === undefined ? undefined : parseJson(text, bodyMembersMax);
    const fields = (body === undefined ? undefined : checkedBody(body, json, text)) as z.output<Body>;
    const unknown = unknownFields(json, fields);
    if (unknown.length > 0) rejectIfStrict(request, unknown);
    const reply = await handle({
      caller,
      params: params as ParamsOf<Params>,
      query: (query === undefined ? {} : checkedQuery(query, request)) as z.output<Query>,
      body: fields,
      json,
      bytes,
      request,
      network: permit.network,
      aside: (wait) => aside(permit, wait),
    });
    return unknown.length === 0 ? reply : namingUnknownFields(reply, unknown);
  };

  return {
    ...documentation,
    params: documentedParams ?? null,
    query: query ?? null,
    body: body ?? null,
    rawBody: rawBody ?? null,
    workGate: workGateOf(throughWorkGate),
    async serve(request, response, params, permit) {
      const caller = await admission.admit(request, permit);
      unsentReplies?.count(response, permit.network);
      const admitted = { caller, admittedAt: performance.now(), request, params, permit };
      const all = async (): Promise<HttpReply> => {
        try {
          const bytes = mediaType === undefined ? NO_BYTES : await receive(request, response, permit);
          heldBodies?.complete(request);
          const gate = throughWorkGate ?? (permit.projectId === null ? 'none' : projectGate(permit));
          // Awaited: a promise that is returned as it is takes two more rounds of the microtasks.
          if (gate !== 'none') return await behind(gate, admitted, () => work(admitted, bytes));
          if (mediaType !== undefined) permit.resume();
          return await work(admitted, bytes);
        } finally {
          heldBodies?.release(request);
        }
      };
      return throughGate === undefined ? await all() : await behind(throughGate, admitted, all);
    },
  };
}

function workGateOf(gate: Gate<never> | 'none' | undefined): Route['workGate'] {
  if (gate === undefined) return 'project';
  return gate === 'none' ? 'none' : 'own';
}

function projectGate(permit: RequestPermit): Gate<unknown> {
  return (_caller, work) => permit.throughProjectGate(work);
}

/** The names of the parameters in a path, in their order. */
function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** A request that was admitted. */
interface Admitted<Caller> {
  readonly caller: Caller;
  readonly admittedAt: number;
  readonly request: IncomingMessage;
  readonly params: PathParams;
  readonly permit: RequestPermit;
}

/** A caller who waits at the gate holds a connection, not a place. Nothing is done for one who has left meanwhile. */
function behind<Caller>(
  gate: Gate<Caller>,
  { caller, request, params, permit }: Admitted<Caller>,
  work: () => Promise<HttpReply>,
): Promise<HttpReply> {
  permit.suspend();
  const opened = async () => {
    if (request.socket.destroyed) throw new ClientDisconnected('the caller left while the request waited');
    permit.resume();
    try {
      return await work();
    } catch (error) {
      // The gate may try it again after a while.
      if (error instanceof StorageLocked) permit.suspend();
      throw error;
    }
  };
  return gate(caller, opened, params);
}

/** What follows takes no time worth a place: a caller whose work is done is not told that the process is full. */
function aside<Result>(permit: RequestPermit, wait: () => Promise<Result>): Promise<Result> {
  permit.suspend();
  return wait();
}
