import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';

/** A request to a provider's interface. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  /** Absolute; from the configuration of an operator, never from a caller. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The longest response; `PROVIDER_RESPONSE_BYTES_MAX` when absent. */
  readonly responseBytesMax?: number;
  /** The backlog of the message that it submits; a request without one waits as housekeeping does. */
  readonly backlog?: Backlog;
}

/**
 * What became of a request. `responded`: the whole response came. `not-sent`: the other side cannot have seen it, so it may be
 * sent again or elsewhere. `limited`: it was not sent either, because more requests waited than the other side takes.
 * `unclear`: the other side may have acted on it.
 */
export type ProviderResponse =
  | { readonly kind: 'responded'; readonly status: number; readonly body: string }
  | { readonly kind: 'not-sent'; readonly reason: string }
  | { readonly kind: 'limited'; readonly reason: string }
  | { readonly kind: 'unclear'; readonly reason: string };

/**
 * Requests to the HTTP interface of one provider, over connections of its own: no provider waits for another. More requests
 * than connections wait, the most urgent first and projects in rotation, for `PROVIDER_WAIT_MS` at most. Follows no redirect. A
 * response ends within `PROVIDER_RESPONSE_MS` and is no longer than the request allows, or is `unclear`.
 */
export interface ProviderHttp {
  /** Never rejects. */
  send(request: ProviderRequest): Promise<ProviderResponse>;
  /**
   * Notes what a response to a request of the project says, as soon as `send` resolves: while the provider throttles the project,
   * its requests go out at a rate. What got no response says nothing.
   */
  noteResult(projectId: string, response: ProviderResponse, result: SubmitResult): void;
  /** The listener is told of each request that goes out. There is one at most. */
  whenHandedOver(listener: (backlog: Backlog) => void): void;
  /** How many more requests of a backlog go out at once, and how many of it wait. */
  capacity(backlog: Backlog): ProviderCapacity;
  /** Ends every connection; a request in flight is `unclear`. May be called twice. */
  close(): Promise<void>;
}

/**
 * The wait for a connection included. Shorter than `SUBMIT_TIMEOUT_MS`, so that the reason of a slow response is still recorded,
 * in milliseconds.
 */
export const PROVIDER_RESPONSE_MS = 9_000;

/** More requests than the other side takes now. */
export const TOO_MANY_REQUESTS = 429;

/** The longest response to one message, in bytes. */
export const PROVIDER_RESPONSE_BYTES_MAX = 65_536;
/** The most members of all objects and lists in such a response. Reading them takes less than a millisecond. */
export const PROVIDER_RESPONSE_MEMBERS_MAX = 2_000;

/** Timeout, conflict with an earlier request, too early: they do not say what became of the request. */
const UNCLEAR_CLIENT_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** Whether a status says that the request was done. */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a status leaves open if the other side acted on the request. */
export function isUnclearStatus(status: number): boolean {
  return status >= 500 || UNCLEAR_CLIENT_STATUSES.has(status);
}
