import type { PlainSecret, SealedSecret } from '../../domain/shared/sealed-secret.ts';
import { Rejected } from '../errors/rejected.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';

/** The URL and the secret of a webhook, as they were given. */
interface GivenWebhook {
  readonly webhookUrl: string;
  readonly webhookSecret: PlainSecret | null;
}

/** Its stored form. */
type Sealed<Given extends GivenWebhook> = Omit<Given, 'webhookSecret'> & {
  readonly webhookSecret: SealedSecret | Extract<Given['webhookSecret'], null>;
};

interface Ports {
  readonly webhookTransport: Pick<WebhookTransport, 'acceptUrl'>;
  readonly secretBox: Pick<SecretBox, 'seal'>;
}

/** Turns what names a webhook into its stored form: the URL parsed, the secret sealed. */
export class SealWebhook {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Throws `Rejected` for a URL that no webhook may go to; `field` is where the request has it. */
  execute<Given extends GivenWebhook>(given: Given, field?: string): Sealed<Given> {
    const sealed = this.tried(given);
    if (sealed !== null) return sealed;
    throw new Rejected({ kind: 'webhook-url-refused', ...(field !== undefined && { field }) });
  }

  /** Null for a URL that no webhook may go to. */
  tried<Given extends GivenWebhook>(given: Given): Sealed<Given> | null {
    const { webhookTransport, secretBox } = this.#ports;
    const webhookUrl = webhookTransport.acceptUrl(given.webhookUrl);
    if (webhookUrl === null) return null;
    const webhookSecret = given.webhookSecret === null ? null : secretBox.seal(given.webhookSecret);
    return { ...given, webhookUrl, webhookSecret } as Sealed<Given>;
  }
}
