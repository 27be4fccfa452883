import { WEBHOOK_LOG_LIFETIME_MS } from '../../domain/webhooks/retry-schedule.ts';
import { retryManually, type WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { deliverWebhooksJob } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';

/** The most events one read of the log returns. */
const INBOUND_LOG_EVENTS_MAX = 500;

/** Specification 6.2: the inbound events of a number, kept for 15 days, and their manual retry. */
export class InboundLog {
  readonly #ports: {
    readonly unitOfWork: UnitOfWork;
    readonly clock: Clock;
    readonly wakeSignal: WakeSignal;
  };

  constructor(ports: {
    readonly unitOfWork: UnitOfWork;
    readonly clock: Clock;
    readonly wakeSignal: WakeSignal;
  }) {
    this.#ports = ports;
  }

  /** The newest first. */
  read(phoneNumberId: string): Promise<readonly WebhookEvent[]> {
    const since = this.#ports.clock.now() - WEBHOOK_LOG_LIFETIME_MS;
    return this.#ports.unitOfWork.read((stores) =>
      stores.webhookEvents.ofPhoneNumber(phoneNumberId, since, INBOUND_LOG_EVENTS_MAX),
    );
  }

  /** Makes an event due at once. Resolves with it, or null when it is unknown, delivered or out of the log. */
  async retry(eventId: string): Promise<WebhookEvent | null> {
    const { unitOfWork, clock, wakeSignal } = this.#ports;
    const now = clock.now();
    const retried = await unitOfWork.run(async (stores) => {
      const [event] = await stores.webhookEvents.lock([eventId]);
      const again = event === undefined ? null : retryManually(event, now);
      if (again === null || again === event) return again;
      await stores.webhookEvents.save([again]);
      await stores.jobs.scheduleNoLaterThan([deliverWebhooksJob(again, now)], now);
      return again;
    });
    wakeSignal.wake();
    return retried;
  }
}
