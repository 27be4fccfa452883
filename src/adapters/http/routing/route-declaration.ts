import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { HeldBodies } from '../input/held-bodies.ts';
import type { ErrorEnvelope, HttpError } from '../replies/http-error.ts';
import type { HttpReply, JsonReply } from '../replies/http-reply.ts';
import type { Admission } from './admission.ts';
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
import type { Gate } from './gate.ts';
import type { RequestPermit } from './request-permit.ts';
import type { UnsentReplies } from './unsent-replies.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

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

/** The parameters of a path, by their names. */
export type PathParams = Readonly<Record<string, string>>;

/** The parameters of a path that declares these. */
export type ParamsOf<Params extends z.ZodObject> = { readonly [Name in keyof z.output<Params>]: string };

/** What a handler gets: who calls, and what they sent, checked and typed. */
export interface Input<Caller, Params, Query, Body> {
  readonly caller: Caller;
  /** As they stand in the path, decoded and unchecked. */
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
  /** Waits for something that takes long. From here on the request holds a connection, and no longer a place. */
  readonly withoutPlace: <Result>(wait: () => Promise<Result>) => Promise<Result>;
  /**
   * Resolves when a round of the event loop has time for what a gate of the handler has let through. Rejects as
   * `ClientDisconnected` for a caller who has left. What runs at a gate of the route has waited for it.
   */
  readonly waitForRound: () => Promise<void>;
}

/** The reply that a handler owes after what it documents. */
type ReplyTo<Documented> =
  Documented extends DocumentedJson<infer Body>
    ? JsonReply<Body>
    : Documented extends DocumentedContent
      ? Extract<HttpReply, { kind: Documented['kind'] }>
      : never;

/** What `route` takes. */
export interface Declaration<
  Caller,
  Ok extends DocumentedReply,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Documentation {
  readonly admission: Admission<Caller>;
  /** Before the body is read: throws for a path that leads nowhere. */
  readonly checkPath?: (params: ParamsOf<Params>) => void;
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
