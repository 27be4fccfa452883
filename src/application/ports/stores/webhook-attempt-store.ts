import type { WebhookAttempt } from '../../../domain/webhooks/webhook-attempt.ts';

/** The delivery attempts of webhook events. They are removed with their events. */
export interface WebhookAttemptStore {
  /** Leaves an attempt that is stored already as it is. */
  insert(attempts: readonly WebhookAttempt[]): Promise<void>;
  /**
   * The newest attempts of each ordering key, `limit` at most: the newest events first, the newest attempts of each first.
   * In the order of the keys.
   */
  ofOrderingKeys(
    orderingKeys: readonly string[],
    limit: number,
  ): Promise<readonly (readonly WebhookAttempt[])[]>;
  /** The newest event of each ordering key that was attempted; a key without one is missing. */
  newestEvents(orderingKeys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
