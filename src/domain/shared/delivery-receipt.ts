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
