/** What the provider charges the operator for a message, in its own words. It never changes what the customer is billed. */
export interface ProviderCharge {
  readonly billable: boolean;
  /** The pricing model, such as `PMP`. */
  readonly model: string;
  /** The category that the price follows from, such as `authentication`. */
  readonly category: string;
}

/** What a channel provider says later about a submission, or about one part of it. */
export type DeliveryReceipt =
  | { readonly kind: 'sent' | 'delivered' | 'read'; readonly charge?: ProviderCharge }
  | { readonly kind: 'failed'; readonly reason: string };

/** The same receipt, its reason without the credentials that the provider may have repeated. */
export function withMaskedReason(
  receipt: DeliveryReceipt,
  masked: (text: string) => string,
): DeliveryReceipt {
  return receipt.kind === 'failed' ? { ...receipt, reason: masked(receipt.reason) } : receipt;
}
