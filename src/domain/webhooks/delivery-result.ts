import type { CircuitBreaker } from '../shared/circuit-breaker.ts';
import { isInbound, type WebhookKind } from './webhook-kind.ts';

/**
 * Why an attempt has no response. `address-refused`: the url can never be connected to, so no later attempt can differ.
 * `name-refused`: the host's name leads to an address that is not allowed; names may lead elsewhere later.
 * `secret-unreadable`: nothing was sent, because the secret was sealed under a key the service no longer has; an attempt
 * all the same, so that the event ends.
 */
export type DeliveryFailure =
  | 'timeout'
  | 'connection'
  | 'tls'
  | 'address-refused'
  | 'name-refused'
  | 'protocol'
  | 'secret-unreadable';

/** How an attempt ended. */
export type DeliveryResult =
  | {
      readonly kind: 'responded';
      readonly status: number;
      /** What the receiver asked for in Retry-After, in milliseconds from now; null when it asked for nothing. */
      readonly retryAfterMs: number | null;
      /** What the body begins with, as `responseStart` of its bytes; absent when there was none. */
      readonly responseStart?: string;
    }
  | { readonly kind: 'failed'; readonly reason: DeliveryFailure };

const STATUS_GONE = 410;

/** Whether the result says anything about the receiver, and counts for its circuit breaker. */
export function concernsReceiver(result: DeliveryResult): boolean {
  return result.kind === 'responded' || result.reason !== 'secret-unreadable';
}

/** Whether no later attempt can end otherwise: the receiver says that the address is gone, or it never was one. */
export function isPermanent(result: DeliveryResult): boolean {
  return result.kind === 'responded' ? result.status === STATUS_GONE : result.reason === 'address-refused';
}

/** What the log says of an attempt that was no success. */
export function errorOf(result: DeliveryResult): string {
  return result.kind === 'responded' ? `HTTP ${result.status}` : result.reason;
}

/** Only a 2xx is a success; redirects are not followed (specification 6.1 and 6.2). */
export function isSuccess(result: DeliveryResult): boolean {
  return result.kind === 'responded' && result.status >= 200 && result.status <= 299;
}

/**
 * Whether attempts of this kind count. An inbound event keeps to the schedule of specification 6.2 and never opens a
 * circuit. At an open one it may be the half-open attempt, and counts.
 */
export function countsForCircuit({ openUntil }: CircuitBreaker, kind: WebhookKind): boolean {
  return !isInbound(kind) || openUntil !== null;
}
