import { CONVERSATION_MS } from '../../domain/campaigns/daily-limit.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { canonicalPhoneNumber, isPhoneNumber } from '../../domain/shared/phone-number.ts';
import { inboundEvent } from '../../domain/webhooks/inbound-event.ts';
import type { InboundWebhook } from '../../domain/webhooks/inbound-webhook.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { findPhoneNumber, type WhatsappPhoneNumber } from '../../domain/whatsapp/whatsapp-resources.ts';
import { Batcher } from '../batching/batcher.ts';
import { RotatingBatches } from '../batching/rotating-batches.ts';
import { EventLoopShare } from '../concurrency/event-loop-share.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLoop } from '../ports/event-loop.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { InboundArrival } from '../ports/provider-events.ts';
import type { CustomerWrote } from '../ports/stores/campaign-stores.ts';
import type { Stores } from '../ports/stores.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { SWEPT_PER_ADDED } from '../swept-per-added.ts';
import type { EnqueueWebhooks } from './enqueue-webhooks.ts';

interface AcceptPorts {
  readonly unitOfWork: UnitOfWork;
  readonly enqueueWebhooks: Pick<EnqueueWebhooks, 'add'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
  readonly eventLoop: EventLoop;
}

/** Messages that are stored at once. Of more, as many at a time, with pauses between: others come first. */
export const INBOUND_STORED_AT_ONCE_MAX = 64;

/**
 * Specification 6.2: a whatsapp message to a linked number becomes one event for its customer, however often the channel
 * provider reports the message.
 */
export class AcceptInbound {
  readonly #ports: AcceptPorts;
  readonly #batcher: Batcher<InboundArrival, null>;
  /** By number in rotation: many people who write to one number keep no other waiting. */
  readonly #arrivals: RotatingBatches<InboundArrival>;

  constructor(ports: AcceptPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((arrivals, { lockWait }) => this.#accept(arrivals, lockWait), {
      clock: ports.clock,
      projectsOf: (arrivals) => this.#projectsOf(arrivals),
    });
    const share = new EventLoopShare(ports.eventLoop);
    this.#arrivals = new RotatingBatches({
      batchMax: INBOUND_STORED_AT_ONCE_MAX,
      keyOf: ({ whatsappPhoneId }) => whatsappPhoneId,
      work: (arrivals, settled) => share.run(() => this.#batcher.submitEach(arrivals, 'wait', settled)),
    });
  }

  /**
   * Resolves when the events are committed. Rejects with the first failure when all were tried: the provider reports all of them
   * again. A message of a locked project waits for the lock. The customer gets nothing from a number without a webhook. Messages
   * that arrive together are one transaction, which takes one connection.
   */
  execute(arrivals: readonly InboundArrival[]): Promise<void> {
    return this.#arrivals.submit(arrivals);
  }

  /** Arrivals at numbers without a webhook go together: their projects are not known. */
  async #projectsOf(arrivals: readonly InboundArrival[]): Promise<readonly string[]> {
    const numberIds = [...new Set(arrivals.map(({ whatsappPhoneId }) => whatsappPhoneId))];
    const webhooks = await this.#ports.unitOfWork.read(({ inboundWebhooks }) =>
      inboundWebhooks.byWhatsappPhoneIds(numberIds),
    );
    const projectIds = new Map(webhooks.map((webhook) => [webhook.whatsappPhoneId, webhook.projectId]));
    return arrivals.map(({ whatsappPhoneId }) => projectIds.get(whatsappPhoneId) ?? '');
  }

  async #accept(arrivals: readonly InboundArrival[], lockWait: LockWait): Promise<readonly null[]> {
    const { unitOfWork, enqueueWebhooks, wakeSignal } = this.#ports;
    const accept = async (stores: Stores): Promise<void> => {
      await this.#noteWritten(stores, arrivals);
      const numberIds = [...new Set(arrivals.map(({ whatsappPhoneId }) => whatsappPhoneId))];
      // Without the lock, a webhook that is changed or removed meanwhile would leave an event for its old address.
      const webhooks = await stores.inboundWebhooks.lockShared(numberIds);
      if (webhooks.length === 0) return;
      const trees = await stores.whatsapp.byProjectIds([
        ...new Set(webhooks.map(({ projectId }) => projectId)),
      ]);
      const events = arrivals.flatMap((arrival) => {
        const webhook = webhooks.find(({ whatsappPhoneId }) => whatsappPhoneId === arrival.whatsappPhoneId);
        if (webhook === undefined) return [];
        return [
          this.#event(
            arrival,
            webhook,
            findPhoneNumber(trees.get(webhook.projectId) ?? [], arrival.whatsappPhoneId)?.phoneNumber ?? null,
          ),
        ];
      });
      // A channel provider may report a message twice in one batch.
      const first = new Map(events.toReversed().map((event) => [event.orderingKey, event]));
      // An inbound message has an ordering key of its own: nothing is open under it.
      await enqueueWebhooks.add(stores, [...first.values()], []);
    };
    await unitOfWork.run(accept, 'full', lockWait);
    wakeSignal.wake();
    return arrivals.map(() => null);
  }

  /** A campaign message to anybody who wrote within a day does not count for the daily limit. */
  async #noteWritten({ conversations }: Stores, arrivals: readonly InboundArrival[]): Promise<void> {
    const now = this.#ports.clock.now();
    const latest = new Map<string, CustomerWrote>();
    for (const { whatsappPhoneId, contact, writtenAt } of arrivals) {
      if (!isPhoneNumber(contact.phoneNumber)) continue;
      const phoneNumber = canonicalPhoneNumber(contact.phoneNumber);
      const key = `${whatsappPhoneId} ${phoneNumber}`;
      const at = Math.max(Math.min(writtenAt, now), latest.get(key)?.at ?? 0);
      latest.set(key, { whatsappPhoneId, phoneNumber, at });
    }
    await conversations.sweepWritten(now - CONVERSATION_MS, latest.size * SWEPT_PER_ADDED);
    await conversations.noteWritten([...latest.values()]);
  }

  #event(arrival: InboundArrival, webhook: InboundWebhook, number: WhatsappPhoneNumber | null): WebhookEvent {
    const { clock, ids } = this.#ports;
    const now = clock.now();
    const inbound = {
      eventId: ids.hex24(now),
      timestamp: isoOf(now),
      projectId: webhook.projectId,
      phoneNumber: {
        id: arrival.whatsappPhoneId,
        phoneNumberId: number?.phoneNumberId ?? '',
        displayPhoneNumber: number?.displayPhoneNumber ?? '',
      },
      contact: arrival.contact,
      message: {
        ...arrival.content,
        id: arrival.messageId,
        timestamp: isoOf(arrival.writtenAt),
      },
    };
    return inboundEvent(inbound, webhook, now);
  }
}
