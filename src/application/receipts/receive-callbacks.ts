import { MinuteLog } from '../minute-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { CallbackRequest, ProviderCallbacks } from '../ports/provider-callback.ts';
import type { RecordProviderEvents } from './record-provider-events.ts';

/** What became of a request to `/callbacks/{provider}`. */
export type CallbackOutcome =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'challenge'; readonly text: string }
  | { readonly kind: 'unknown-provider' }
  | { readonly kind: 'forged' }
  | { readonly kind: 'unreadable'; readonly problem: string };

interface CallbackPorts {
  readonly providerCallbacks: ProviderCallbacks;
  readonly recordProviderEvents: Pick<RecordProviderEvents, 'execute'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Takes the delivery receipts and inbound messages that providers send. */
export class ReceiveCallbacks {
  readonly #ports: CallbackPorts;
  readonly #log: MinuteLog;

  constructor(ports: CallbackPorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
  }

  /** Whether this provider sends callbacks. */
  knows(provider: string): boolean {
    return this.#ports.providerCallbacks.of(provider) !== null;
  }

  /** Resolves when every event of the request is committed. Rejects when one may not be: the provider tries again. */
  async execute(provider: string, request: CallbackRequest): Promise<CallbackOutcome> {
    const { providerCallbacks, recordProviderEvents } = this.#ports;
    const callback = providerCallbacks.of(provider);
    if (callback === null) return { kind: 'unknown-provider' };
    const content = await callback.read(request);
    if (content.kind !== 'events') {
      if (content.kind === 'forged') this.#log.warn('provider_callback_rejected', { provider });
      if (content.kind === 'unreadable') this.#log.warn('provider_callback_malformed', { provider });
      return content;
    }
    if (content.malformed > 0) this.#log.warn('provider_callback_malformed', { provider }, content.malformed);
    if (content.events.length > 0) await recordProviderEvents.execute(content.events);
    return { kind: 'recorded' };
  }
}
