import type { MobileOperatorPrices } from '../billing/pricing.ts';

export const SENDER_ID_STATUSES = ['accepted', 'pending', 'rejected'] as const;
export type SenderIdStatus = (typeof SENDER_ID_STATUSES)[number];

/** A name shown as the sender of an sms, with its own prices (specification 2.5). */
export interface SenderId {
  readonly id: string;
  readonly projectId: string;
  readonly senderId: string;
  readonly status: SenderIdStatus;
  readonly pricePerSms: MobileOperatorPrices;
}

export type SenderIdDecision =
  | { readonly kind: 'usable'; readonly prices: MobileOperatorPrices | null }
  | { readonly kind: 'sender-id-not-found' }
  | { readonly kind: 'sender-id-not-accepted' };

/** Whether a send may go out under the name it asked for; asking for none is always allowed. */
export function decideSenderId(requested: string | null, found: SenderId | undefined): SenderIdDecision {
  if (requested === null) return { kind: 'usable', prices: null };
  if (found === undefined) return { kind: 'sender-id-not-found' };
  if (found.status !== 'accepted') return { kind: 'sender-id-not-accepted' };
  return { kind: 'usable', prices: found.pricePerSms };
}
