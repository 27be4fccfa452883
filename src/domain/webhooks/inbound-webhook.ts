import type { SealedSecret } from '../shared/sealed-secret.ts';
import { endpointOf } from './endpoint.ts';
import { type InboundSecrets, secretsInUse, signingSecrets } from './inbound-secrets.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** Where the inbound messages of a whatsapp number go (specification 6.2). */
export interface InboundWebhook extends InboundSecrets {
  /** Our 24-hex id of the number. */
  readonly whatsappPhoneId: string;
  readonly projectId: string;
  readonly url: string;
}

/** What an event has of its webhook at `now`: the address and the secret that belongs to it. */
export function addressOf(webhook: InboundSecrets & Pick<InboundWebhook, 'url'>, now: number) {
  const { url } = webhook;
  return { url, endpoint: endpointOf(url), secret: secretsInUse(webhook, now).secret };
}

/**
 * The secrets that sign an attempt of an inbound event at `now`: those of the webhook that its number has, when the event
 * goes to the address of that webhook, else its own. A secret never signs for the address of another webhook.
 */
export function secretsFor(
  { projectId, url, secret }: Pick<WebhookEvent, 'projectId' | 'url' | 'secret'>,
  current: InboundWebhook | null,
  now: number,
): readonly SealedSecret[] {
  if (current?.projectId === projectId && current.url === url) return signingSecrets(current, now);
  return secret === null ? [] : [secret];
}
