import { WEBHOOK_LOG_LIFETIME_MS } from '../../domain/webhooks/retry-schedule.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** The most events one read of the log returns. */
const INBOUND_LOG_EVENTS_MAX = 500;

/** Specification 6.2: the inbound events of a number, kept for 15 days. */
export class InboundLog {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** The newest first. */
  read(whatsappPhoneId: string): Promise<readonly WebhookEvent[]> {
    const since = this.#ports.clock.now() - WEBHOOK_LOG_LIFETIME_MS;
    return this.#ports.unitOfWork.read((stores) =>
      stores.webhookEvents.ofWhatsappPhone(whatsappPhoneId, since, INBOUND_LOG_EVENTS_MAX),
    );
  }
}
