import type { DeliveryReport } from '../../domain/messages/send-request.ts';
import { Rejected } from '../errors/rejected.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';

/** Turns the webhook subscription of a request into its stored form: the URL parsed, the secret sealed. */
export class SealDeliveryReport {
  readonly #ports: { readonly webhookTransport: WebhookTransport; readonly secretBox: SecretBox };

  constructor(ports: { readonly webhookTransport: WebhookTransport; readonly secretBox: SecretBox }) {
    this.#ports = ports;
  }

  /** Null for null. Throws `Rejected` for a URL that webhooks are never posted to. */
  execute(report: DeliveryReport | null): DeliveryReport | null {
    if (report === null) return null;
    const webhookUrl = this.#ports.webhookTransport.acceptUrl(report.webhookUrl);
    if (webhookUrl === null) throw new Rejected({ kind: 'webhook-url-refused' });
    const { webhookSecret } = report;
    return {
      ...report,
      webhookUrl,
      webhookSecret: webhookSecret === null ? null : this.#ports.secretBox.seal(webhookSecret),
    };
  }
}
