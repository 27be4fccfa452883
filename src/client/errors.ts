/** The errors of the client, one class for each case of specification 7 that a program treats in its own way. */

import type { ErrorCode } from './operations.ts';

const MS_PER_SECOND = 1_000;

/** What an error is made of. */
export interface ErrorDetails {
  readonly message: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly body: unknown;
  readonly requestId: string | null;
  /** The value of `Retry-After`. */
  readonly retryAfter: string | null;
  readonly idempotencyKey: string | null;
  readonly cause?: unknown;
}

/** A call that did not succeed. No part of it holds the API key. */
export class BaridError extends Error {
  /** The HTTP status; null when no reply came. */
  readonly status: number | null;
  /** The word of `X-Error-Code`; null when no reply came, or one that is not of the service. */
  readonly code: ErrorCode | (string & Record<never, never>) | null;
  /** The body of the reply: parsed JSON, else the text; null when no reply came. */
  readonly body: unknown;
  /** `X-Request-Id`, by which operators find the request in their log. */
  readonly requestId: string | null;
  /** The key of the call, with which the same call can be made again; null when the operation takes none. */
  readonly idempotencyKey: string | null;

  constructor(details: ErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.status = details.status;
    this.code = details.code;
    this.body = details.body;
    this.requestId = details.requestId;
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** No whole reply came: whether the service did anything is unknown. */
export class ConnectionError extends BaridError {}

/** 400: the request is not well formed, or names what cannot be used; the message says what to change. */
export class ValidationError extends BaridError {}

/** 400: the credit is lower than the cost. Amounts are in IQD. */
export class InsufficientCreditError extends BaridError {
  readonly yourCredit: number;
  readonly requiredCredit: number;

  constructor(details: ErrorDetails) {
    super(details);
    this.yourCredit = numberIn(details, 'yourCredit');
    this.requiredCredit = numberIn(details, 'requiredCredit');
  }
}

/** 400: the project would spend more than its threshold. Amounts are in IQD. */
export class SpendingThresholdError extends BaridError {
  readonly currentSpending: number;
  readonly spendingThreshold: number;
  readonly cost: number;

  constructor(details: ErrorDetails) {
    super(details);
    this.currentSpending = numberIn(details, 'currentSpending');
    this.spendingThreshold = numberIn(details, 'spendingThreshold');
    this.cost = numberIn(details, 'cost');
  }
}

/** 400: the sender ID does not exist, or is not accepted yet. */
export class SenderIdError extends BaridError {}

/** 400: the account is in trial mode, and the number is not its own. */
export class TrialModeError extends BaridError {}

/** 400: recipients are in countries that are not supported. */
export class UnsupportedNumbersError extends BaridError {
  readonly unsupportedPhoneNumbers: readonly string[];

  constructor(details: ErrorDetails) {
    super(details);
    const numbers = fieldIn(details, 'unsupportedPhoneNumbers');
    this.unsupportedPhoneNumbers = Array.isArray(numbers) ? numbers.map(String) : [];
  }
}

/** 401: the API key is missing or wrong. */
export class UnauthorizedError extends BaridError {}

/** 403: the project does not take requests from this IP address. */
export class AddressNotAllowedError extends BaridError {}

/** 404: what the request names does not exist. */
export class NotFoundError extends BaridError {}

/** 409: the idempotency key was used with another request. */
export class IdempotencyConflictError extends BaridError {}

/** 429 or 503 with a time to wait: the request was not done, and may be made again later. */
export class RetryLaterError extends BaridError {
  /** Milliseconds from now, by `Retry-After`; null when the reply names no time. */
  readonly retryAfterMs: number | null;

  constructor(details: ErrorDetails) {
    super(details);
    const { retryAfter } = details;
    this.retryAfterMs =
      retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * MS_PER_SECOND : null;
  }
}

/** 429: too many messages to one phone number within the time window. */
export class RateLimitError extends RetryLaterError {
  readonly waitMinutes: number;
  readonly maxRequests: number;
  readonly timeWindowMinutes: number;

  constructor(details: ErrorDetails) {
    super(details);
    this.waitMinutes = numberIn(details, 'waitMinutes');
    this.maxRequests = numberIn(details, 'maxRequests');
    this.timeWindowMinutes = numberIn(details, 'timeWindowMinutes');
  }
}

type ErrorClass = new (details: ErrorDetails) => BaridError;

const BY_CODE: ReadonlyMap<string | null, ErrorClass> = new Map<ErrorCode, ErrorClass>([
  ['insufficient-credit', InsufficientCreditError],
  ['spending-threshold', SpendingThresholdError],
  ['sender-id-not-found', SenderIdError],
  ['sender-id-not-accepted', SenderIdError],
  ['trial-mode', TrialModeError],
  ['unsupported-numbers', UnsupportedNumbersError],
  ['rate-limited', RateLimitError],
]);

const BY_STATUS: ReadonlyMap<number, ErrorClass> = new Map([
  [400, ValidationError],
  [401, UnauthorizedError],
  [403, AddressNotAllowedError],
  [404, NotFoundError],
  [409, IdempotencyConflictError],
  [429, RetryLaterError],
  [503, RetryLaterError],
]);

/** The error of a reply: by its code, else by its status. */
export function errorOf(details: ErrorDetails & { readonly status: number }): BaridError {
  const Class = BY_CODE.get(details.code) ?? BY_STATUS.get(details.status) ?? BaridError;
  return new Class(details);
}

function numberIn(details: ErrorDetails, name: string): number {
  return Number(fieldIn(details, name));
}

function fieldIn({ body }: ErrorDetails, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
}
