import type { ErrorCode } from './error-codes.ts';

/** What a handler answers: a JSON body, and headers as a flat list of names and values. */
export interface HttpReply<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly headers?: readonly string[];
  /** The stable slug in X-Error-Code of every answer that refuses. */
  readonly code?: ErrorCode;
}

export interface ErrorReply extends HttpReply<Readonly<Record<string, unknown>>> {
  readonly code: ErrorCode;
}

/** Thrown to give up the connection instead of answering. */
export class ClientDisconnected extends Error {}

/** A request the interface refuses before any use case sees it. */
export class BadRequest extends Error {
  readonly answer: ErrorReply;

  constructor(answer: ErrorReply) {
    super(answer.code);
    this.name = 'BadRequest';
    this.answer = answer;
  }
}

/** The 200 every successful request gets. */
export function ok<Body>(body: Body, headers?: readonly string[]): HttpReply<Body> {
  return headers === undefined ? { status: 200, body } : { status: 200, body, headers };
}

/** The 400 of a request that is not well formed: the text says what to change. */
export function invalid(error: string, code: ErrorCode = 'validation-failed'): BadRequest {
  return new BadRequest({ status: 400, code, body: { error } });
}
