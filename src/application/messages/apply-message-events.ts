import { Batcher } from '../batcher.ts';
import type { SubmissionReceipt } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
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

/** Records what channel providers say, at once or later: one transaction per batch. */
export class ApplyMessageEvents {
  readonly #ports: ApplyPorts;
  readonly #batcher: Batcher<Item, null>;

  constructor(ports: ApplyPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((items) => this.#record(items), { clock: ports.clock });
  }

  /** Resolves when the submit results are committed, together with the receipts that came before them. */
  async submitted(attempts: readonly SubmittedAttempt[]): Promise<void> {
    await this.#submit(attempts.map((attempt) => ({ kind: 'submitted', attempt })));
  }

  /** Resolves when the receipts are committed: to their messages, or parked until their submit result is. */
  async received(receipts: readonly SubmissionReceipt[]): Promise<void> {
    await this.#submit(receipts.map((receipt) => ({ kind: 'received', receipt })));
  }

  async #submit(items: readonly Item[]): Promise<void> {
    await Promise.all(items.map((item) => this.#batcher.submit(item)));
  }

  async #record(items: readonly Item[]): Promise<readonly null[]> {
    const { unitOfWork, correlateReceipts, advanceMessages, wakeSignal, logger } = this.#ports;
    const attempts = items.flatMap((item) => (item.kind === 'submitted' ? [item.attempt] : []));
    const receipts = items.flatMap((item) => (item.kind === 'received' ? [item.receipt] : []));
    const dropped = await unitOfWork.run(async (stores) => {
      const early = await correlateReceipts.recordIds(stores, attempts);
      const resolved = await correlateReceipts.resolve(stores, receipts);
      await advanceMessages.execute(stores, [...attempts.map(submittedEvent), ...early, ...resolved.events]);
      return resolved.dropped;
    });
    if (dropped > 0) logger.warn('provider_receipts_dropped', { count: dropped });
    wakeSignal.wake();
    return items.map(() => null);
  }
}

function submittedEvent({ smsId, attemptNumber, result }: SubmittedAttempt): MessageEvent {
  return { smsId, event: { kind: 'submitted', attemptNumber, result } };
}
