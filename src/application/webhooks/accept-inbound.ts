import { inboundEvent, type WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { findPhoneNumber, type WhatsappPhoneNumber } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { InboundArrival } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { InboundWebhook } from '../ports/webhook-stores.ts';
import type { EnqueueWebhooks } from './enqueue-webhooks.ts';

interface AcceptPorts {
  readonly unitOfWork: UnitOfWork;
  readonly enqueueWebhooks: EnqueueWebhooks;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
}

/**
 * Specification 6.2: a whatsapp message to a linked number becomes one event for its customer, however often the channel
 * provider reports the message.
 */
export class AcceptInbound {
  readonly #ports: AcceptPorts;

  constructor(ports: AcceptPorts) {
    this.#ports = ports;
  }

  /** Resolves when the events are committed; a number without a webhook sends nothing to the customer. */
  async execute(arrivals: readonly InboundArrival[]): Promise<void> {
    if (arrivals.length === 0) return;
    const { unitOfWork, enqueueWebhooks, wakeSignal } = this.#ports;
    await unitOfWork.run(async (stores) => {
      const numberIds = [...new Set(arrivals.map(({ phoneNumberId }) => phoneNumberId))];
      const webhooks = await stores.inboundWebhooks.byPhoneNumberIds(numberIds);
      if (webhooks.length === 0) return;
      const trees = await stores.whatsapp.byProjectIds([
        ...new Set(webhooks.map(({ projectId }) => projectId)),
      ]);
      const events = arrivals.flatMap((arrival) => {
        const webhook = webhooks.find(({ phoneNumberId }) => phoneNumberId === arrival.phoneNumberId);
        if (webhook === undefined) return [];
        return [
          this.#event(
            arrival,
            webhook,
            findPhoneNumber(trees.get(webhook.projectId) ?? [], arrival.phoneNumberId),
          ),
        ];
      });
      // A channel provider may report a message twice in one batch.
      const first = new Map(events.toReversed().map((event) => [event.orderingKey, event]));
      // An inbound message has an ordering key of its own: nothing is open under it.
      await enqueueWebhooks.add(stores, [...first.values()], []);
    });
    wakeSignal.wake();
  }

  #event(arrival: InboundArrival, webhook: InboundWebhook, number: WhatsappPhoneNumber | null): WebhookEvent {
    const { clock, ids } = this.#ports;
    const now = clock.now();
    const inbound = {
      eventId: ids.hex24(now),
      timestamp: new Date(now).toISOString(),
      projectId: webhook.projectId,
      phoneNumber: {
        id: arrival.phoneNumberId,
        phoneNumberId: number?.phoneNumberId ?? '',
        displayPhoneNumber: number?.displayPhoneNumber ?? '',
      },
      contact: arrival.contact,
      message: {
        ...arrival.content,
        id: arrival.messageId,
        timestamp: new Date(arrival.writtenAt).toISOString(),
      },
    };
    return inboundEvent(inbound, webhook, now);
  }
}
