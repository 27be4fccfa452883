import type { BackgroundWork } from '../concurrency/background-work.ts';
import type { ApplyMessageEvents } from '../messages/apply-message-events.ts';
import type { EventSettled, LateAcceptance, ProviderEvent } from '../ports/provider-events.ts';
import type { AcceptInbound } from '../webhooks/accept-inbound.ts';
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
   * What `ProviderEventSink` promises. An acceptance is recorded in the background: it waits for a lock of its project, and no
   * receipt of others waits for that.
   */
  async execute(events: readonly ProviderEvent[], settled?: EventSettled): Promise<void> {
    const { applyMessageEvents, acceptInbound, background } = this.#ports;
    const receipts = events.flatMap((event) => (event.kind === 'receipt' ? [event.receipt] : []));
    const arrivals = events.flatMap((event) => (event.kind === 'inbound' ? [event.arrival] : []));
    for (const event of events) {
      if (event.kind === 'accepted') {
        background.start(() => applyMessageEvents.submitted(submittedLate(event.acceptance)));
      }
    }
    if (settled === undefined) {
      await Promise.all([applyMessageEvents.received(receipts), acceptInbound.execute(arrivals)]);
      return;
    }
    settleAll(indexesOf(events, 'accepted'), settled, null);
    const ofReceipts = indexesOf(events, 'receipt');
    const ofArrivals = indexesOf(events, 'inbound');
    await Promise.all([
      applyMessageEvents.receivedEach(receipts, (index, failure) =>
        settled(ofReceipts[index] ?? index, failure),
      ),
      acceptInbound.execute(arrivals).then(
        () => settleAll(ofArrivals, settled, null),
        (failure) => settleAll(ofArrivals, settled, failure),
      ),
    ]);
  }
}

function indexesOf(events: readonly ProviderEvent[], kind: ProviderEvent['kind']): readonly number[] {
  return events.flatMap((event, index) => (event.kind === kind ? [index] : []));
}

function settleAll(indexes: readonly number[], settled: EventSettled, failure: unknown): void {
  for (const index of indexes) settled(index, failure);
}

function submittedLate({
  smsId,
  attemptNumber,
  channel,
  providerMessageIds,
}: LateAcceptance): SubmittedAttempt {
  return { smsId, attemptNumber, channel, result: { kind: 'accepted', providerMessageIds } };
}
