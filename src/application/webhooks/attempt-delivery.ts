import type { AttemptResult } from '../../domain/webhooks/attempt-result.ts';
import { deliveryHeaders } from '../../domain/webhooks/delivery-event.ts';
import { inboundHeaders } from '../../domain/webhooks/inbound-event.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';

interface AttemptPorts {
  readonly webhookTransport: WebhookTransport;
  readonly secretBox: SecretBox;
  readonly hmac: Hmac;
}

/** Specification 6.1 and 6.2: one attempt to deliver an event, signed at that instant. */
export class AttemptDelivery {
  readonly #ports: AttemptPorts;

  constructor(ports: AttemptPorts) {
    this.#ports = ports;
  }

  /** `now` in milliseconds since 1970. */
  execute(event: WebhookEvent, now: number): Promise<AttemptResult> {
    const headers = this.#headers(event, now);
    if (headers === null) return Promise.resolve({ kind: 'failed', reason: 'secret-unreadable' });
    return this.#ports.webhookTransport.send({ url: event.url, headers, body: event.body });
  }

  /** Null when the secret cannot be opened. */
  #headers(event: WebhookEvent, now: number): Readonly<Record<string, string>> | null {
    const { hmac } = this.#ports;
    const secret = event.secret === null ? null : this.#opened(event.secret);
    if (secret === null && event.secret !== null) return null;
    const { id: eventId, body } = event;
    return event.kind === 'inbound'
      ? inboundHeaders(hmac, { eventId, body, secret: secret ?? '' }, event.attempts + 1, now)
      : deliveryHeaders(hmac, { eventId, now, body, secret });
  }

  #opened(sealed: string): string | null {
    try {
      return this.#ports.secretBox.open(sealed);
    } catch {
      return null;
    }
  }
}
