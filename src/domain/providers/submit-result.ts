import type { RejectionCause, RejectionClass } from './rejection-class.ts';

/**
 * What a channel provider says at once. `unknown`: it may or may not have taken the message. The ids are those that delivery
 * receipts will come under: one per part of the message, and none when the provider named none. A reason begins with our words;
 * what the provider says stands behind a colon.
 */
export type SubmitResult =
  | { readonly kind: 'accepted'; readonly providerMessageIds: readonly string[] }
  | {
      readonly kind: 'rejected';
      readonly reason: string;
      readonly endsChain: boolean;
      readonly cause?: RejectionCause;
    }
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      readonly providerMessageIds: readonly string[];
      /** Present when its time was over at a limit before all of it was sent. */
      readonly cause?: 'limited';
    };

/** The caller of a provider waits this long for its submit result, in milliseconds. */
export const SUBMIT_TIMEOUT_MS = 10_000;

/** The result of a message that the provider certainly did not take. */
export function rejectedAs(about: RejectionClass, reason: string): SubmitResult {
  const rejected = { kind: 'rejected', reason, endsChain: about === 'ends-chain' } as const;
  return about === 'message' || about === 'ends-chain' ? rejected : { ...rejected, cause: about };
}

/** The result of a message that the provider may have taken, under these ids. */
export function unknownResult(
  reason: string,
  providerMessageIds: readonly string[] = [],
  cause?: 'limited',
): SubmitResult {
  const unknown = { kind: 'unknown', reason, providerMessageIds } as const;
  return cause === undefined ? unknown : { ...unknown, cause };
}

/** Whether another provider of the channel may have the message: this one certainly did not take it, for a reason of its own. */
export function isForNextProvider(result: SubmitResult): boolean {
  return result.kind === 'rejected' && result.cause !== undefined && !result.endsChain;
}

/** Whether the same provider may take the same message later. */
export function isForLater(result: SubmitResult): boolean {
  if (result.kind !== 'rejected') return false;
  return result.cause === 'busy' || result.cause === 'throttled' || result.cause === 'limited';
}

/** Whether the provider takes no more than it took just now. */
export function isThrottled(result: SubmitResult): boolean {
  return result.kind === 'rejected' && result.cause === 'throttled';
}

/**
 * Whether the provider did its work; null when the result says nothing of that. A rejection of one message, sender or recipient
 * says nothing: it may come from a front end, or from this service, while the provider takes no message of anybody. One that is
 * throttled says nothing either, for the rate of the project follows it, unless the provider took nothing lately; nor does a
 * message whose time was over at a limit.
 */
export function didItsWork(result: SubmitResult, tookNothing: boolean): boolean | null {
  if (result.kind === 'accepted') return true;
  if (result.kind === 'unknown') return result.cause === undefined ? false : null;
  const isAway = result.cause === 'busy' || (tookNothing && isThrottled(result));
  return isAway ? false : null;
}
