import type { Message } from '../../domain/messages/message.ts';
import { deliveryEvent, type StatusChange, wantsStatusChange } from '../../domain/webhooks/delivery-event.ts';
import { enqueueInOrder, type WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { deliverWebhooksJob } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Stores } from '../ports/stores.ts';

export interface MessageStatusChange {
  readonly message: Message;
  readonly change: StatusChange;
}

/**
 * Writes webhook events in the transaction that caused them. The events of one ordering key are attempted one at a time, in
 * order; one that failed is superseded by the next.
 */
export class EnqueueWebhooks {
  readonly #ports: { readonly clock: Clock; readonly ids: IdSource };

  constructor(ports: { readonly clock: Clock; readonly ids: IdSource }) {
    this.#ports = ports;
  }

  /**
   * Adds an event for each change that the message's subscription asks for. The changes are in the order in which they happened.
   */
  async statusChanges(stores: Stores, changes: readonly MessageStatusChange[]): Promise<void> {
    const { clock, ids } = this.#ports;
    const now = clock.now();
    const events = changes.flatMap(({ message, change }) =>
      message.deliveryReport !== null && wantsStatusChange(message.deliveryReport.deliveryReportType, change)
        ? [deliveryEvent(ids.hex24(now), message, message.deliveryReport, change, now)]
        : [],
    );
    if (events.length === 0) return;
    const orderingKeys = [...new Set(events.map(({ orderingKey }) => orderingKey))];
    const earlier = await stores.webhookEvents.lockOpen(orderingKeys);
    await this.add(stores, events, earlier);
  }

  /** Adds events behind `earlier`, the locked open events of their ordering keys. The first event of a key is due at once. */
  async add(
    stores: Stores,
    events: readonly WebhookEvent[],
    earlier: readonly WebhookEvent[],
  ): Promise<void> {
    const now = this.#ports.clock.now();
    const { added, superseded } = enqueueInOrder(earlier, events, now);
    await stores.webhookEvents.insert(added);
    await stores.webhookEvents.save(superseded);
    const jobs = added
      .filter(({ nextAttemptAt }) => nextAttemptAt !== null)
      .map((event) => deliverWebhooksJob(event, now));
    // A leased job stays as it is: the process that has it fetches the events.
    await stores.jobs.scheduleNoLaterThan(jobs, now);
  }
}
