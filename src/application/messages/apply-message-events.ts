import { BATCH_ITEMS_MAX, Batcher } from '../batcher.ts';
import { IdleGate } from '../idle-gate.ts';
import type { SubmissionReceipt } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { IdentifiedReceipt } from '../ports/submission-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { AdvanceMessages, MessageEvent } from './advance-messages.ts';
import type { CorrelateReceipts, SubmittedAttempt } from './correlate-receipts.ts';

interface ApplyPorts {
  readonly unitOfWork: UnitOfWork;
  readonly correlateReceipts: CorrelateReceipts;
  readonly advanceMessages: AdvanceMessages;
  readonly wakeSignal: WakeSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Item =
  | { readonly kind: 'submitted'; readonly attempt: SubmittedAttempt }
  | { readonly kind: 'received'; readonly receipt: SubmissionReceipt };

/** Records what channel providers say, at once or later: one transaction per batch, and one for receipts that come early. */
export class ApplyMessageEvents {
  readonly #ports: ApplyPorts;
  readonly #batcher: Batcher<Item, null>;
  /** Counts submit results that are not committed yet. */
  readonly #uncommitted = new IdleGate();

  constructor(ports: ApplyPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((items) => this.#record(items), { clock: ports.clock });
  }

  /** Resolves when the submit results are committed, together with the receipts that came before them. */
  async submitted(attempts: readonly SubmittedAttempt[]): Promise<void> {
    this.#uncommitted.begin(attempts.length);
    try {
      await this.#batcher.submitAll(attempts.map((attempt) => ({ kind: 'submitted', attempt })));
    } finally {
      this.#uncommitted.end(attempts.length);
    }
  }

  /** Resolves when no more submit results wait for their commit than fit into one batch; a failed commit ends the wait too. */
  keptUp(): Promise<void> {
    return this.#uncommitted.atMost(BATCH_ITEMS_MAX);
  }

  /** Resolves when the receipts are committed: to their messages, or parked until their submit result is. */
  received(receipts: readonly SubmissionReceipt[]): Promise<void> {
    return this.#batcher.submitAll(receipts.map((receipt) => ({ kind: 'received', receipt })));
  }

  async #record(items: readonly Item[]): Promise<readonly null[]> {
    const { unitOfWork, correlateReceipts, advanceMessages, wakeSignal } = this.#ports;
    const attempts = items.flatMap((item) => (item.kind === 'submitted' ? [item.attempt] : []));
    const receipts = items.flatMap((item) => (item.kind === 'received' ? [item.receipt] : []));
    const early = await unitOfWork.run(async (stores) => {
      const [awaited, found] = await Promise.all([
        // First: a receipt may come in one batch with its submit result.
        correlateReceipts.recordIds(stores, attempts),
        correlateReceipts.find(stores, receipts),
      ]);
      await advanceMessages.execute(stores, [...attempts.map(submittedEvent), ...awaited, ...found.events]);
      return found.early;
    });
    if (early.length > 0) await this.#recordEarly(early);
    wakeSignal.wake();
    return items.map(() => null);
  }

  /** In a transaction of its own: two that record ids, and then park under each other's, would be a deadlock. */
  async #recordEarly(receipts: readonly IdentifiedReceipt[]): Promise<void> {
    const { unitOfWork, correlateReceipts, advanceMessages, logger } = this.#ports;
    const dropped = await unitOfWork.run(async (stores) => {
      const parked = await correlateReceipts.park(stores, receipts);
      await advanceMessages.execute(stores, parked.events);
      return parked.dropped;
    });
    if (dropped > 0) logger.warn('provider_receipts_dropped', { count: dropped });
  }
}

function submittedEvent({ smsId, attemptNumber, result }: SubmittedAttempt): MessageEvent {
  return { smsId, event: { kind: 'submitted', attemptNumber, result } };
}
