import type { ProviderEvent } from '../ports/provider-events.ts';
import type { AcceptInbound } from '../webhooks/accept-inbound.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';

interface RecordPorts {
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly acceptInbound: AcceptInbound;
}

/** The sink of every channel provider. */
export class RecordProviderEvents {
  readonly #ports: RecordPorts;

  constructor(ports: RecordPorts) {
    this.#ports = ports;
  }

  /** Resolves when every event is committed. Rejects when one may not be: the same events may come again. */
  async execute(events: readonly ProviderEvent[]): Promise<void> {
    const { applyMessageEvents, acceptInbound } = this.#ports;
    const receipts = events.flatMap((event) => (event.kind === 'receipt' ? [event.receipt] : []));
    const arrivals = events.flatMap((event) => (event.kind === 'inbound' ? [event.arrival] : []));
    await Promise.all([applyMessageEvents.received(receipts), acceptInbound.execute(arrivals)]);
  }
}
