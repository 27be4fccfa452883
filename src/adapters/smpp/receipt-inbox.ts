import { BatchDrain } from '../../application/batching/batch-drain.ts';
import { projectLocked } from '../../application/errors/storage-locked.ts';
import type { ProviderEventSink, SubmissionReceipt } from '../../application/ports/provider-events.ts';
import type { Timeout } from '../../application/ports/timeout.ts';

/** Receipts of one call of the sink. */
export const RECEIPTS_BATCH_MAX = 500;
/** More receipts are not kept while the sink is busy: the SMSC brings them again. */
export const RECEIPTS_WAITING_MAX = 10_000;
/**
 * A receipt that waits for a lock of its project is responded to after this time, in milliseconds. An SMSC has few receipts
 * without a response at one time: those of one project would keep it from bringing those of others.
 */
export const LOCKED_RESPONSE_MS = 1_000;

interface Arrival {
  readonly receipt: SubmissionReceipt;
  /** Null when it was called. */
  respond: ((isRecorded: boolean) => void) | null;
}

interface InboxOptions {
  /** Told of receipts that the sink did not take. */
  readonly onFailures: (failures: readonly unknown[]) => void;
  /** Of `LOCKED_RESPONSE_MS`. */
  readonly lockedResponse: Timeout;
}

/** Hands receipts to the sink, those that came together at once, and responds to each when it is recorded or is not. */
export class ReceiptInbox {
  readonly #options: InboxOptions;
  readonly #arrivals = new BatchDrain<Arrival>({
    batchMax: RECEIPTS_BATCH_MAX,
    groupOf: () => '',
    handle: (arrivals) => this.#record(arrivals),
  });
  /** Each ends the wait for receipts that wait for a lock. */
  readonly #locked = new Set<() => void>();
  #sink: ProviderEventSink | null = null;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  open(sink: ProviderEventSink): void {
    this.#sink = sink;
  }

  /**
   * `respond` is called with whether the receipt is recorded; not at all for what still waits when the inbox is closed. One that
   * waits for a lock is not recorded yet: the SMSC brings it again, which does no harm when it was recorded meanwhile.
   */
  add(receipt: SubmissionReceipt, respond: (isRecorded: boolean) => void): void {
    if (this.#sink === null || this.#arrivals.waiting >= RECEIPTS_WAITING_MAX) respond(false);
    else this.#arrivals.push({ receipt, respond });
  }

  /** Nothing reaches the sink any more; resolves when the call that goes on is over. */
  async close(): Promise<void> {
    this.#sink = null;
    this.#arrivals.clear();
    await this.#arrivals.idle();
    for (const end of this.#locked) end();
  }

  async #record(arrivals: readonly Arrival[]): Promise<void> {
    const sink = this.#sink;
    if (sink === null) return;
    const failures: unknown[] = [];
    let open = arrivals.length;
    const settle = (arrival: Arrival | undefined, failure: unknown): void => {
      const respond = arrival?.respond ?? null;
      if (arrival === undefined || respond === null) return;
      arrival.respond = null;
      open -= 1;
      if (failure !== null) failures.push(failure);
      respond(failure === null);
    };
    const end = (failure: unknown): void => {
      if (open > 0) for (const arrival of arrivals) settle(arrival, failure);
      if (failures.length > 0) this.#options.onFailures(failures);
    };
    try {
      await sink(
        arrivals.map(({ receipt }) => ({ kind: 'receipt', receipt })),
        (index, failure) => settle(arrivals[index], failure),
      );
    } catch (failure) {
      return end(failure);
    }
    if (open === 0) end(null);
    else this.#endLater(() => end(projectLocked()));
  }

  #endLater(end: () => void): void {
    const endOnce = (): void => {
      cancel();
      this.#locked.delete(endOnce);
      end();
    };
    const cancel = this.#options.lockedResponse(endOnce);
    this.#locked.add(endOnce);
  }
}
