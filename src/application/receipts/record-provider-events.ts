import type { ApplyMessageEvents } from '../attempts/apply-message-events.ts';
import type { SubmittedAttempt } from '../attempts/correlate-receipts.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import type {
  EventSettled,
  InboundArrival,
  LateAcceptance,
  ProviderEvent,
  SubmissionReceipt,
} from '../ports/provider-events.ts';
import type { AcceptInbound } from '../webhooks/accept-inbound.ts';

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
    const { receipts, arrivals, acceptances } = byKind(events);
    for (const { event } of acceptances) {
      background.start(() => applyMessageEvents.submitted(submittedLate(event)));
    }
    if (settled === undefined) {
      await Promise.all([
        applyMessageEvents.received(receipts.map(({ event }) => event)),
        acceptInbound.execute(arrivals.map(({ event }) => event)),
      ]);
      return;
    }
    const settleAll = (all: readonly Indexed<unknown>[], failure: unknown): void => {
      for (const { index } of all) settled(index, failure);
    };
    settleAll(acceptances, null);
    await Promise.all([
      applyMessageEvents.receivedEach(
        receipts.map(({ event }) => event),
        (nth, failure) => settled(receipts[nth]?.index ?? nth, failure),
      ),
      acceptInbound.execute(arrivals.map(({ event }) => event)).then(
        () => settleAll(arrivals, null),
        (failure) => settleAll(arrivals, failure),
      ),
    ]);
  }
}

/** What one event brings, and which of all events it is. */
interface Indexed<Event> {
  readonly event: Event;
  readonly index: number;
}

interface ByKind {
  readonly receipts: Indexed<SubmissionReceipt>[];
  readonly arrivals: Indexed<InboundArrival>[];
  readonly acceptances: Indexed<LateAcceptance>[];
}

function byKind(events: readonly ProviderEvent[]): ByKind {
  const all: ByKind = { receipts: [], arrivals: [], acceptances: [] };
  for (const [index, event] of events.entries()) {
    switch (event.kind) {
      case 'receipt':
        all.receipts.push({ event: event.receipt, index });
        break;
      case 'inbound':
        all.arrivals.push({ event: event.arrival, index });
        break;
      case 'accepted':
        all.acceptances.push({ event: event.acceptance, index });
        break;
      default:
        event satisfies never;
    }
  }
  return all;
}

function submittedLate({
  smsId,
  attemptNumber,
  channel,
  providerMessageIds,
}: LateAcceptance): SubmittedAttempt {
  return { smsId, attemptNumber, channel, result: { kind: 'accepted', providerMessageIds } };
}
