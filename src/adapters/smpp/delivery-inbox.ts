import { BatchDrain } from '../../application/concurrency/batch-drain.ts';
import { recordEach } from '../../application/messages/record-each.ts';
import type { ProviderEvent, ProviderEventSink } from '../../application/ports/provider-events.ts';

/** Receipts of one call of the sink. */
export const RECEIPTS_BATCH_MAX = 500;
/** More receipts are not kept while the sink is busy: the SMSC brings them again. */
export const RECEIPTS_WAITING_MAX = 10_000;

interface Arrival {
  readonly event: ProviderEvent;
  readonly respond: (isRecorded: boolean) => void;
}

/** Hands events to the sink, those that came together at once, and responds to each when it is recorded or is not. */
export class DeliveryInbox {
  readonly #onFailure: (error: unknown, count: number) => void;
  readonly #arrivals = new BatchDrain<Arrival>({
    batchMax: RECEIPTS_BATCH_MAX,
    groupOf: () => '',
    handle: (arrivals) => this.#record(arrivals),
  });
  #sink: ProviderEventSink | null = null;

  /** `onFailure` is told of events that the sink did not take. */
  constructor(onFailure: (error: unknown, count: number) => void) {
    this.#onFailure = onFailure;
  }

  open(sink: ProviderEventSink): void {
    this.#sink = sink;
  }

  /** `respond` is called with whether the event is recorded; not at all for what still waits when the inbox is closed. */
  add(event: ProviderEvent, respond: (isRecorded: boolean) => void): void {
    if (this.#sink === null || this.#arrivals.waiting >= RECEIPTS_WAITING_MAX) respond(false);
    else this.#arrivals.push({ event, respond });
  }

  /** Nothing reaches the sink any more; resolves when the call that goes on is over. */
  async close(): Promise<void> {
    this.#sink = null;
    this.#arrivals.clear();
    await this.#arrivals.idle();
  }

  async #record(arrivals: readonly Arrival[]): Promise<void> {
    const sink = this.#sink;
    if (sink === null) return;
    const { recorded, failures } = await recordEach(
      arrivals.map(({ event }) => event),
      sink,
      () => this.#sink !== null,
    );
    for (const [index, { respond }] of arrivals.entries()) respond(recorded[index] === true);
    if (failures.length > 0) this.#onFailure(failures[0], failures.length);
  }
}
