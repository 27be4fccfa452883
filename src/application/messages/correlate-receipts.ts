import { millisecondsInDay, millisecondsInHour } from 'date-fns/constants';
import type { DeliveryReceipt, SubmitResult } from '../../domain/messages/chain-event.ts';
import { LONGEST_RECEIPT_TIMEOUT_MS } from '../../domain/messages/receipt-timeout.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import { providerText } from '../../domain/shared/provider-text.ts';
import type { SubmissionReceipt } from '../ports/channel-provider.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { AttemptRef, IdentifiedReceipt } from '../ports/submission-store.ts';
import type { MessageEvent } from './advance-messages.ts';

/** What a channel provider said at once about an attempt. */
export interface SubmittedAttempt extends AttemptRef {
  readonly channel: Channel;
  readonly result: SubmitResult;
}

/** Receipts are resolved for as long as any attempt may wait for one, and a day longer for those that come late. */
export const SUBMISSION_LIFETIME_MS = LONGEST_RECEIPT_TIMEOUT_MS + millisecondsInDay;

/** A receipt waits this long for its submit result: much longer than any call of a provider takes. */
export const PARKED_RECEIPT_LIFETIME_MS = millisecondsInHour;

/** Provider message ids that receipts may be parked under; a provider that sends others' receipts fills no more. */
export const PARKED_IDS_MAX = 10_000;

/** Expired ids removed for each one that is written, so that the table cannot grow for ever. */
const SWEPT_PER_ID = 2;

/**
 * Brings delivery receipts and submissions together by the provider's message ids, whichever comes first. Runs inside the
 * caller's transaction, before messages are locked: every caller locks ids first.
 */
export class CorrelateReceipts {
  readonly #clock: Clock;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Records the ids of submit results, and returns the receipts that came before them. */
  async recordIds(
    { submissions }: Stores,
    results: readonly SubmittedAttempt[],
  ): Promise<readonly MessageEvent[]> {
    const ids = results.flatMap(({ smsId, attemptNumber, channel, result }) =>
      result.kind === 'rejected'
        ? []
        : result.providerMessageIds.map((id) => ({
            channel,
            providerMessageId: providerText(id),
            smsId,
            attemptNumber,
          })),
    );
    if (ids.length === 0) return [];
    const now = this.#clock.now();
    const parked = await submissions.record(ids, now + SUBMISSION_LIFETIME_MS);
    await submissions.sweep(now, ids.length * SWEPT_PER_ID);
    return parked.map((each) => receiptEvent(each, each));
  }

  /** The receipts whose attempt is known; the others are parked, or dropped when too many are parked already. */
  async resolve(
    { submissions }: Stores,
    receipts: readonly SubmissionReceipt[],
  ): Promise<{ readonly events: readonly MessageEvent[]; readonly dropped: number }> {
    if (receipts.length === 0) return { events: [], dropped: 0 };
    const kept = receipts.map(inStoredForm);
    const found = await submissions.find(kept);
    const early = kept.filter((_, index) => found[index] === null);
    const outcomes = new Map<IdentifiedReceipt, AttemptRef | 'parked' | 'dropped'>();
    if (early.length > 0) {
      const now = this.#clock.now();
      const expiresAt = now + PARKED_RECEIPT_LIFETIME_MS;
      const parked = await submissions.park(early, { expiresAt, idsMax: PARKED_IDS_MAX });
      for (const [index, each] of early.entries()) outcomes.set(each, parked[index] ?? 'dropped');
      await submissions.sweep(now, early.length * SWEPT_PER_ID);
    }
    const events = kept.flatMap((each, index): readonly MessageEvent[] => {
      const attempt = found[index] ?? outcomes.get(each);
      return typeof attempt === 'object' ? [receiptEvent(attempt, each)] : [];
    });
    return { events, dropped: [...outcomes.values()].filter((outcome) => outcome === 'dropped').length };
  }
}

function receiptEvent(
  { smsId, attemptNumber }: AttemptRef,
  { providerMessageId, receipt }: IdentifiedReceipt,
): MessageEvent {
  return { smsId, event: { kind: 'receipt', attemptNumber, providerMessageId, receipt } };
}

/** As every database keeps it, and as the ids of submit results are kept. */
function inStoredForm({ channel, providerMessageId, receipt }: SubmissionReceipt): IdentifiedReceipt {
  const clean: DeliveryReceipt =
    receipt.kind === 'failed' ? { kind: 'failed', reason: providerText(receipt.reason) } : receipt;
  return { channel, providerMessageId: providerText(providerMessageId), receipt: clean };
}
