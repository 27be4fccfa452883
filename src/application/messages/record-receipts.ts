import type { Receipt } from '../ports/channel-provider.ts';
import type { RecordNews } from './record-news.ts';

/** What channels report about attempts, in whatever order and however often it comes. */
export class RecordReceipts {
  readonly #ports: { readonly recordNews: RecordNews };

  constructor(ports: { readonly recordNews: RecordNews }) {
    this.#ports = ports;
  }

  /** Resolves when the receipts are committed; those about unknown messages are ignored. */
  execute(receipts: readonly Receipt[]): Promise<void> {
    return this.#ports.recordNews.execute(
      receipts.map(({ smsId, step, report }) => ({ smsId, event: { kind: 'reported', step, report } })),
    );
  }
}
