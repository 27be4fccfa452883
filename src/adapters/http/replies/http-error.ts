import type { AdminErrorCode } from './admin-error-codes.ts';
import type { ErrorCode } from './error-codes.ts';
import type { JsonReply } from './http-reply.ts';

/** What a request is rejected with, before the envelope of its family makes a body of it. */
export interface HttpError<Code = ErrorCode | AdminErrorCode> {
  readonly status: number;
  readonly code: Code;
  /** For people: what is wrong, and what to change. */
  readonly text: string;
  /** Further fields of the body. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** A flat list of names and values. */
  readonly headers?: readonly string[];
}

/** Makes the body of an error: each family of routes has one. */
export type ErrorEnvelope = (error: HttpError) => Readonly<Record<string, unknown>>;

export type ErrorReply = JsonReply<Readonly<Record<string, unknown>>> & {
  readonly code: ErrorCode | AdminErrorCode;
};

/** Rejects a request. A route throws it for what no use case gets to see. */
export class RequestRejected extends Error {
  readonly error: HttpError;

  constructor(error: HttpError) {
    super(error.code);
    this.name = 'RequestRejected';
    this.error = error;
  }
}

/** Thrown when the client is gone and there is nothing to reply to. */
export class ClientDisconnected extends Error {}

/** The 400 of a request that is not well formed: the text says what to change. */
export function invalid(text: string, code: ErrorCode = 'validation-failed'): RequestRejected {
  return new RequestRejected({ status: 400, code, text });
}

const STATUSES_WITH_ERROR: ReadonlySet<number> = new Set([400, 409]);

/** Specification 7: `error` says what the caller can change in the request, `message` says everything else. */
export const usualEnvelope: ErrorEnvelope = ({ status, text, details }) =>
  STATUSES_WITH_ERROR.has(status) ? { error: text, ...details } : { message: text, ...details };

/** The reply to a rejected request in the envelope of its family. */
export function errorReply(error: HttpError, envelope: ErrorEnvelope): ErrorReply {
  const { status, code, headers } = error;
  const reply: ErrorReply = { kind: 'json', status, code, body: envelope(error) };
  return headers === undefined ? reply : { ...reply, headers };
}
