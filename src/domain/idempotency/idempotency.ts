import { millisecondsInDay } from 'date-fns/constants';

/** How long the result of a request is replayed to equal requests with its key, in milliseconds. */
export const IDEMPOTENCY_RECORD_LIFETIME_MS = millisecondsInDay;

/** A request that came with an Idempotency-Key. A key is unique for each project and route. */
export interface KeyedRequest {
  readonly route: string;
  readonly key: string;
  /** Equal requests have equal hashes. */
  readonly requestHash: string;
}

/** What the first request with a key resulted in. */
export interface IdempotencyRecord extends KeyedRequest {
  readonly projectId: string;
  /** The result of the use case as JSON. */
  readonly result: string;
  /** Milliseconds since 1970, exclusive. */
  readonly expiresAt: number;
}

export interface IdempotencyConflict {
  readonly kind: 'idempotency-conflict';
}

export type IdempotencyDecision =
  /** Nothing was done for the key yet. */
  { readonly kind: 'first' } | { readonly kind: 'replay'; readonly result: string } | IdempotencyConflict;

/** Whether a request is the first with its key, a repetition, or another request under a used key. */
export function decideIdempotency(
  record: IdempotencyRecord | undefined,
  { requestHash }: KeyedRequest,
  now: number,
): IdempotencyDecision {
  if (record === undefined || record.expiresAt <= now) return { kind: 'first' };
  return record.requestHash === requestHash
    ? { kind: 'replay', result: record.result }
    : { kind: 'idempotency-conflict' };
}

/** The record of a first request that was done at `now`. */
export function newIdempotencyRecord(
  projectId: string,
  { route, key, requestHash }: KeyedRequest,
  result: string,
  now: number,
): IdempotencyRecord {
  const expiresAt = now + IDEMPOTENCY_RECORD_LIFETIME_MS;
  return { projectId, route, key, requestHash, result, expiresAt };
}
