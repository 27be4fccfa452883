import type { DeliveryResult } from '../../domain/webhooks/delivery-result.ts';

/** One signed or secret-bearing POST to a customer's server. */
export interface WebhookRequest {
  /** Whose request it is: no project takes the transport's time from others. */
  readonly projectId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as it is, in UTF-8. */
  readonly body: string;
}

export interface WebhookTransport {
  /**
   * One POST: HTTPS only, redirects not followed, the address checked when connecting. The result comes within the
   * deadline of an attempt (specification 6.1: 10 seconds from the first lookup to the last byte). Never rejects.
   */
  send(request: WebhookRequest): Promise<DeliveryResult>;
  /** The url in its parsed form when a request to it may be tried, or null when it never can (specification 6.1). */
  acceptUrl(url: string): string | null;
  /** Resolves when requests in flight have ended and every connection is closed; nothing is sent after it was called. */
  close(): Promise<void>;
}
