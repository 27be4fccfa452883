import { millisecondsInDay } from 'date-fns/constants';

/** How long the result of a request is replayed to equal requests with its key, in milliseconds. */
export const IDEMPOTENCY_RECORD_LIFETIME_MS = millisecondsInDay;

/** A request that came with an Idempotency-Key. A key is unique for each project and route. */
export interface KeyedRequest {
  readonly route: string;
  readonly key: string;
  /** Equal requests have equal hashes. Never stored: a short code can be found from it by trying all codes. */
  readonly requestHash: string;
}

/** What the first request with a key resulted in. */
export interface IdempotencyRecord {
  readonly projectId: string;
  readonly route: string;
  readonly key: string;
  /** A keyed digest of the request. */
  readonly requestDigest: string;
  /** The result of the use case as JSON. */
  readonly result: string;
  /** Milliseconds since 1970, exclusive. */
  readonly expiresAt: number;
}

export interface IdempotencyConflict {
  readonly kind: 'idempotency-conflict';
}

export type IdempotencyDecision =
  /** Nothing was done for the key, or too long ago. */
  { readonly kind: 'first' } | { readonly kind: 'replay'; readonly result: string } | IdempotencyConflict;

/** Whether a request repeats the one of its key's record, is another one, or comes when the record has expired. */
export function decideIdempotency(
  record: IdempotencyRecord,
  requestDigest: string,
  now: number,
): IdempotencyDecision {
  if (record.expiresAt <= now) return { kind: 'first' };
  return record.requestDigest === requestDigest
    ? { kind: 'replay', result: record.result }
    : { kind: 'idempotency-conflict' };
}

/** The record of a first request that was done at `now`. */
export function newIdempotencyRecord(
  request: Pick<IdempotencyRecord, 'projectId' | 'route' | 'key' | 'requestDigest'>,
  result: string,
  now: number,
): IdempotencyRecord {
  return { ...request, result, expiresAt: now + IDEMPOTENCY_RECORD_LIFETIME_MS };
}
