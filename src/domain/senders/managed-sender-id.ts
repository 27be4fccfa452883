import type { MobileOperatorPrices } from '../billing/pricing.ts';
import type { SenderId } from './sender-id.ts';

/** Sender IDs of a project, rejected ones among them. */
export const SENDER_IDS_PER_PROJECT_MAX = 100;

/** A sender ID as operators see it. */
export interface ManagedSenderId extends SenderId {
  /** Why it is rejected; null for one that is not, and for one that a seed file rejected. */
  readonly reason: string | null;
}

export type SenderIdRequestRejection =
  | { readonly kind: 'sender-id-taken' }
  | { readonly kind: 'too-many-sender-ids' };

/** What keeps a project from a new sender ID of this name; null when nothing does. Letter case matters. */
export function senderIdRequestRejection(
  existing: readonly SenderId[],
  name: string,
): SenderIdRequestRejection | null {
  if (existing.some(({ senderId }) => senderId === name)) return { kind: 'sender-id-taken' };
  return existing.length >= SENDER_IDS_PER_PROJECT_MAX ? { kind: 'too-many-sender-ids' } : null;
}

/** A new sender ID waits for a decision: no send may name it. */
export function requestedSenderId(given: Omit<ManagedSenderId, 'status' | 'reason'>): ManagedSenderId {
  return { ...given, status: 'pending', reason: null };
}

/** From any status: an operator may take a rejection back. */
export function approvedSenderId(sender: ManagedSenderId): ManagedSenderId {
  return { ...sender, status: 'accepted', reason: null };
}

/** From any status: an operator may take an approval back. Messages that are accepted already go on. */
export function rejectedSenderId(sender: ManagedSenderId, reason: string): ManagedSenderId {
  return { ...sender, status: 'rejected', reason };
}

/** With the given prices in place of its own; the others stay. Messages that are accepted already keep their price. */
export function pricedSenderId(
  sender: ManagedSenderId,
  prices: Partial<MobileOperatorPrices>,
): ManagedSenderId {
  return { ...sender, pricePerSms: { ...sender.pricePerSms, ...prices } };
}
