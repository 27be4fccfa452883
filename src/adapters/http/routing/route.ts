import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { z } from 'zod';
import { invariant } from '../../../domain/shared/invariant.ts';
import { checkedBody, checkedQuery } from '../input/checked-input.ts';
import {
  checkAnnouncedSize,
  checkMediaType,
  decodeText,
  JSON_TYPE,
  parseJson,
  readBytes,
} from '../input/request-body.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { HttpReply } from '../replies/http-reply.ts';
import { ADMISSION_FRESH_MS } from './admission.ts';
import type { DocumentedReply } from './documented.ts';
import { type Admitted, behind, type Gate, projectGate, waitForRound } from './gate.ts';
import type { RequestPermit } from './request-permit.ts';
import type { Declaration, ParamsOf, PathParams, Route } from './route-declaration.ts';
import { namingUnknownFields, rejectIfStrict, unknownFields } from './unknown-fields.ts';

const NO_BYTES = Buffer.alloc(0);

/** A request on its way to the handler. */
interface Received<Caller> extends Admitted<Caller> {
  readonly admittedAt: number;
  readonly params: PathParams;
}

/**
 * Declares a route: what it takes, who may use it, what it replies with. Validation, types and the OpenAPI document
 * follow from the declaration. The checks run in the order admission, path, body, query. Fields of a body that the schema
 * does not know are named in the header X-Unknown-Fields, or rejected when the request says `Prefer: handling=strict`.
 *
 * A handler rejects a request with `new RequestRejected({ status, code, text })`, a use case with `Rejected`; the envelope of the
 * family makes the body. docs/recipes.md says which files a new endpoint touches.
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
    checkPath,
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
    { caller: first, admittedAt, request, params, permit }: Received<Caller>,
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
      withoutPlace: (wait) => withoutPlace(permit, wait),
      waitForRound: () => waitForRound({ request, permit }),
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
      checkPath?.(params as ParamsOf<Params>);
      unsentReplies?.count(response, permit.network);
      const received: Received<Caller> = { caller, admittedAt: performance.now(), request, params, permit };
      const all = async (): Promise<HttpReply> => {
        try {
          const bytes = mediaType === undefined ? NO_BYTES : await receive(request, response, permit);
          heldBodies?.complete(request);
          const gate = throughWorkGate ?? (permit.projectId === null ? 'none' : projectGate(permit));
          // Awaited: a promise that is returned as it is takes two more rounds of the microtasks.
          if (gate !== 'none') return await behind(gate, received, () => work(received, bytes));
          if (mediaType !== undefined) permit.resume();
          return await work(received, bytes);
        } finally {
          heldBodies?.release(request);
        }
      };
      return throughGate === undefined ? await all() : await behind(throughGate, received, all);
    },
  };
}

function workGateOf(gate: Gate<never> | 'none' | undefined): Route['workGate'] {
  if (gate === undefined) return 'project';
  return gate === 'none' ? 'none' : 'own';
}

/** The names of the parameters in a path, in their order. */
function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** What follows takes no time worth a place: a caller whose work is done is not told that the process is full. */
function withoutPlace<Result>(permit: RequestPermit, wait: () => Promise<Result>): Promise<Result> {
  permit.suspend();
  return wait();
}
