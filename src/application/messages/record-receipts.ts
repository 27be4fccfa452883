import type { SubmissionReceipt } from '../ports/channel-provider.ts';
import type { ApplyMessageEvents } from './apply-message-events.ts';

/** What channels receipt about attempts, in whatever order and however often it comes. */
export class RecordReceipts {
  readonly #ports: { readonly applyMessageEvents: ApplyMessageEvents };

  constructor(ports: { readonly applyMessageEvents: ApplyMessageEvents }) {
    this.#ports = ports;
  }

  /** Resolves when the receipts are committed; those about unknown messages are ignored. */
  execute(receipts: readonly SubmissionReceipt[]): Promise<void> {
    return this.#ports.applyMessageEvents.execute(
      receipts.map(({ smsId, attemptNumber, receipt }) => ({
        smsId,
        event: { kind: 'receipt', attemptNumber, receipt },
      })),
    );
  }
}
