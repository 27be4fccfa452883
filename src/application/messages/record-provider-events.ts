import type { BackgroundWork } from '../concurrency/background-work.ts';
import type { LateAcceptance, ProviderEvent } from '../ports/provider-events.ts';
import type { AcceptInbound } from '../webhooks/accept-inbound.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';
import type { SubmittedAttempt } from './correlate-receipts.ts';

interface RecordPorts {
  readonly applyMessageEvents: ApplyMessageEvents;
  readonly acceptInbound: AcceptInbound;
  readonly background: Pick<BackgroundWork, 'start'>;
}

/** The sink of every channel provider. */
export class RecordProviderEvents {
  readonly #ports: RecordPorts;

  constructor(ports: RecordPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when every receipt and inbound message is committed. Rejects when one may not be: the same events may come again.
   * An acceptance is recorded in the background: it waits for a lock of its project, and no receipt of others waits for that.
   */
  async execute(events: readonly ProviderEvent[]): Promise<void> {
    const { applyMessageEvents, acceptInbound, background } = this.#ports;
    const receipts = events.flatMap((event) => (event.kind === 'receipt' ? [event.receipt] : []));
    const arrivals = events.flatMap((event) => (event.kind === 'inbound' ? [event.arrival] : []));
    for (const event of events) {
      if (event.kind === 'accepted') {
        background.start(() => applyMessageEvents.submitted(submittedLate(event.acceptance)));
      }
    }
    await Promise.all([applyMessageEvents.received(receipts), acceptInbound.execute(arrivals)]);
  }
}

function submittedLate({
  smsId,
  attemptNumber,
  channel,
  providerMessageIds,
}: LateAcceptance): SubmittedAttempt {
  return { smsId, attemptNumber, channel, result: { kind: 'accepted', providerMessageIds } };
}
