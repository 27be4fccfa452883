import { millisecondsInSecond } from 'date-fns/constants';

/** What a webhook tells of: a message that was sent, or one that came in. */
export type WebhookKind = 'delivery' | 'inbound';

/**
 * Why a post has no answer. `address-refused`: the url can never be posted to, so no later attempt can differ.
 * `name-refused`: the host's name leads to an address that is not allowed; names may lead elsewhere later.
 * `busy`: nothing was sent, because the transport had no room for the post. `secret-unreadable`: nothing was sent,
 * because the secret was sealed under a key the service no longer has; an attempt all the same, so that it ends.
 */
export type AttemptFailure =
  | 'timeout'
  | 'connection'
  | 'tls'
  | 'address-refused'
  | 'name-refused'
  | 'protocol'
  | 'busy'
  | 'secret-unreadable';

/** What came of posting a webhook. */
export type AttemptResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** What the receiver asked for in Retry-After, in milliseconds from now; null when it asked for nothing. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'failed'; readonly reason: AttemptFailure };

const STATUS_GONE = 410;

/** A post that did not take place is tried again after this: long enough for some of those in the way to end. */
export const POSTPONE_MS = 5 * millisecondsInSecond;

/** Whether the post took place at all; if not, it is no attempt. */
export function wasSent(result: AttemptResult): boolean {
  return result.kind === 'answered' || result.reason !== 'busy';
}

/** Whether the result says anything about the endpoint, which its health is counted by. */
export function isAboutEndpoint(result: AttemptResult): boolean {
  return result.kind === 'answered' || (result.reason !== 'busy' && result.reason !== 'secret-unreadable');
}

/** Whether no later attempt can have another result: the receiver says that the address is gone, or it never was one. */
export function isLasting(result: AttemptResult): boolean {
  return result.kind === 'answered' ? result.status === STATUS_GONE : result.reason === 'address-refused';
}

/** What the log says of a post that was no success. */
export function errorOf(result: AttemptResult): string {
  return result.kind === 'answered' ? `HTTP ${result.status}` : result.reason;
}

/** Only a 2xx counts; redirects are not followed (specification 6.1 and 6.2). */
export function isSuccess(result: AttemptResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status <= 299;
}
