import type { InboundWebhook } from '../../domain/webhooks/inbound-webhook.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { ReadThroughCache, SETTINGS_FRESH_MS } from '../read-through-cache.ts';

/** Webhooks that are kept in memory; one takes less than 3 kB. */
const WEBHOOKS_MAX = 5_000;

/** The inbound webhooks of whatsapp numbers, at most `SETTINGS_FRESH_MS` old. */
export class CurrentInboundWebhooks {
  readonly #unitOfWork: UnitOfWork;
  readonly #webhooks: ReadThroughCache<InboundWebhook | null>;

  constructor({ unitOfWork, clock }: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#unitOfWork = unitOfWork;
    const options = { clock, freshMs: SETTINGS_FRESH_MS, keysMax: WEBHOOKS_MAX, servesStale: true };
    this.#webhooks = new ReadThroughCache(options);
  }

  /** The webhook of the number with our 24-hex id, or null. Rejects when the storage is away and it was never read. */
  of(whatsappPhoneId: string): Promise<InboundWebhook | null> {
    return this.#webhooks.get(whatsappPhoneId, () =>
      this.#unitOfWork.read(async ({ inboundWebhooks }) => {
        const [webhook] = await inboundWebhooks.byWhatsappPhoneIds([whatsappPhoneId]);
        return webhook ?? null;
      }),
    );
  }
}
