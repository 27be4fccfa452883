import type { PlainSecret, SealedSecret } from '../../domain/shared/sealed-secret.ts';
import { secretMask } from '../../domain/shared/secret-mask.ts';
import { deliveryHeaders } from '../../domain/webhooks/delivery-event.ts';
import type { DeliveryResult } from '../../domain/webhooks/delivery-result.ts';
import { inboundHeaders } from '../../domain/webhooks/inbound-event.ts';
import { secretsFor } from '../../domain/webhooks/inbound-webhook.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { isInbound } from '../../domain/webhooks/webhook-kind.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { WebhookRequest, WebhookTransport } from '../ports/webhook-transport.ts';
import type { CurrentInboundWebhooks } from './current-inbound-webhooks.ts';

type Headers = Readonly<Record<string, string>>;

interface AttemptPorts {
  readonly webhookTransport: WebhookTransport;
  readonly secretBox: SecretBox;
  readonly currentInboundWebhooks: Pick<CurrentInboundWebhooks, 'of'>;
  readonly hmac: Hmac;
}

/** Specification 6.1 and 6.2: one attempt to deliver an event, signed at that instant. */
export class AttemptDelivery {
  readonly #ports: AttemptPorts;

  constructor(ports: AttemptPorts) {
    this.#ports = ports;
  }

  /**
   * `now` in milliseconds since 1970. An inbound event is signed with the secrets that its webhook has at `now`. The result has
   * no secret in it, even when the receiver echoes one.
   */
  async execute(event: WebhookEvent, now: number): Promise<DeliveryResult> {
    const secrets = this.#opened(await this.#sealedSecrets(event, now));
    if (secrets === null) return { kind: 'failed', reason: 'secret-unreadable' };
    const result = await this.#ports.webhookTransport.send(this.#request(event, secrets, now));
    if (result.kind === 'failed' || result.responseStart === undefined) return result;
    return { ...result, responseStart: secretMask(secrets)(result.responseStart) };
  }

  /** The request that an attempt at `now` would send; null when its secrets cannot be opened. Sends nothing. */
  async requestOf(event: WebhookEvent, now: number): Promise<WebhookRequest | null> {
    const secrets = this.#opened(await this.#sealedSecrets(event, now));
    return secrets === null ? null : this.#request(event, secrets, now);
  }

  #request(event: WebhookEvent, secrets: readonly PlainSecret[], now: number): WebhookRequest {
    const { projectId, url, body } = event;
    return { projectId, url, headers: this.#headers(event, secrets, now), body };
  }

  #headers(event: WebhookEvent, [first, ...others]: readonly PlainSecret[], now: number): Headers {
    const { hmac } = this.#ports;
    const { id: eventId, body } = event;
    return isInbound(event.kind)
      ? inboundHeaders(hmac, { eventId, body, secrets: [first ?? '', ...others] }, event.attempts + 1, now)
      : deliveryHeaders(hmac, { eventId, now, body, secret: first ?? null });
  }

  #sealedSecrets(
    event: WebhookEvent,
    now: number,
  ): readonly SealedSecret[] | Promise<readonly SealedSecret[]> {
    return isInbound(event.kind) ? this.#inboundSecrets(event, now) : sealedIn(event);
  }

  async #inboundSecrets(event: WebhookEvent, now: number): Promise<readonly SealedSecret[]> {
    const { currentInboundWebhooks } = this.#ports;
    const current = await currentInboundWebhooks.of(event.whatsappPhoneId ?? '').catch(() => null);
    return secretsFor(event, current, now);
  }

  /** Null when one cannot be opened. */
  #opened(sealed: readonly SealedSecret[]): readonly PlainSecret[] | null {
    try {
      return sealed.map((each) => this.#ports.secretBox.open(each));
    } catch {
      return null;
    }
  }
}

function sealedIn({ secret }: WebhookEvent): readonly SealedSecret[] {
  return secret === null ? [] : [secret];
}
