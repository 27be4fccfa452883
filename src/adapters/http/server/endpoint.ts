import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorEnvelope, type ErrorReply, errorReply } from '../replies/http-error.ts';
import type { HttpReply } from '../replies/http-reply.ts';
import { INTERNAL_ERROR, OVERLOADED } from '../replies/known-errors.ts';
import { httpErrorOf } from '../replies/rejection-errors.ts';
import type { PathParams, Route } from '../routing/route-declaration.ts';
import type { ServerLimits } from '../server-limits.ts';
import type { LoadShedder } from './load-shedder.ts';
import type { ReplyWriter } from './writing/reply-writer.ts';

/** What the endpoints of a server share. */
export interface EndpointParts {
  readonly writer: ReplyWriter;
  readonly shedder: LoadShedder;
  readonly limits: Pick<ServerLimits, 'freeReplyBytesMax'>;
}

/** A route on its server: sheds load, and puts errors into the envelope of the family. */
export class Endpoint {
  readonly #route: Route;
  readonly #envelope: ErrorEnvelope;
  readonly #writer: ReplyWriter;
  readonly #shedder: LoadShedder;
  readonly #limits: EndpointParts['limits'];
  readonly #overloaded: ErrorReply;
  readonly #fault: ErrorReply;

  constructor(route: Route, envelope: ErrorEnvelope, { writer, shedder, limits }: EndpointParts) {
    this.#route = route;
    this.#envelope = envelope;
    this.#writer = writer;
    this.#shedder = shedder;
    this.#limits = limits;
    this.#overloaded = errorReply(OVERLOADED, envelope);
    this.#fault = errorReply(route.fault ?? INTERNAL_ERROR, envelope);
  }

  /** Never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse, params: PathParams): Promise<void> {
    const isFree = this.#route.bypassesLoadShedding === true;
    const permit = isFree ? this.#shedder.beginFree(request) : this.#shedder.begin(request);
    const context = this.#writer.begin(request, response, this.#route.path, permit);
    if (permit === null) {
      this.#writer.write(context, this.#overloaded);
      return;
    }
    let isFile = false;
    try {
      let reply: HttpReply;
      try {
        reply = await this.#route.serve(request, response, params, permit);
      } catch (thrown) {
        reply = this.#errorReplyTo(thrown);
      }
      isFile = reply.kind === 'file';
      this.#writer.write(context, reply);
    } catch (error) {
      this.#writer.fail(context, error, this.#fault);
    }
    const isLong = response.writableLength > this.#limits.freeReplyBytesMax;
    if ((isFile || isLong) && !response.destroyed) {
      // It waits for its caller, and counts for its address and its project until the reply has ended.
      permit.suspend();
      response.once('close', () => permit.end());
    } else permit.end();
  }

  /** Throws a fault or a lost connection again. */
  #errorReplyTo(thrown: unknown): ErrorReply {
    const error = httpErrorOf(thrown);
    if (error === null) throw thrown;
    return errorReply(error, this.#envelope);
  }
}
