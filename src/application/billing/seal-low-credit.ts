import type { LowCredit } from '../../domain/billing/low-credit.ts';
import { Rejected } from '../errors/rejected.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';

/** The field of a body that has the address. */
const URL_FIELD = 'lowCredit.webhookUrl';

/** Turns the notice of low credit as an operator gives it into its stored form: the URL parsed, the secret sealed. */
export class SealLowCredit {
  readonly #ports: {
    readonly webhookTransport: Pick<WebhookTransport, 'acceptUrl'>;
    readonly secretBox: SecretBox;
  };

  constructor(ports: {
    readonly webhookTransport: Pick<WebhookTransport, 'acceptUrl'>;
    readonly secretBox: SecretBox;
  }) {
    this.#ports = ports;
  }

  /** Null for null. Throws `Rejected` for a URL that webhooks are never posted to. */
  execute(given: LowCredit | null): LowCredit | null {
    if (given === null) return null;
    const webhookUrl = this.#ports.webhookTransport.acceptUrl(given.webhookUrl);
    if (webhookUrl === null) throw new Rejected({ kind: 'webhook-url-refused', field: URL_FIELD });
    const { amount, webhookSecret } = given;
    const sealed = webhookSecret === null ? null : this.#ports.secretBox.seal(webhookSecret);
    return { amount, webhookUrl, webhookSecret: sealed };
  }
}
