import { millisecondsInDay, millisecondsInHour } from 'date-fns/constants';
import { type AttemptRef, isSameAttempt } from '../../domain/chain/attempt-name.ts';
import { LONGEST_RECEIPT_WINDOW_MS } from '../../domain/chain/receipt-window.ts';
import type { DeliveryReceipt } from '../../domain/providers/delivery-receipt.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import type { Channel } from '../../domain/shared/channel.ts';
import { providerText } from '../../domain/shared/provider-text.ts';
import type { Clock } from '../ports/clock.ts';
import type { SubmissionReceipt } from '../ports/provider-events.ts';
import type { ParkedIdLimits } from '../ports/stores/submission-store.ts';
import type { Stores } from '../ports/stores.ts';
import { providerOf } from '../providers/provider-ids.ts';
import { SWEPT_PER_ADDED } from '../swept-per-added.ts';
import type { MessageEvent } from './advance-messages.ts';

/** What a channel provider said at once about an attempt. */
export interface SubmittedAttempt extends AttemptRef {
  readonly channel: Channel;
  /** Of the start that was submitted. */
  readonly startId?: string | undefined;
  /** Absent when none was called. */
  readonly provider?: string | undefined;
  readonly result: SubmitResult;
}

/**
 * How long the ids of submissions are kept, in milliseconds: as long as any attempt may wait for a receipt, and a day longer for
 * receipts that come late.
 */
export const SUBMISSION_LIFETIME_MS = LONGEST_RECEIPT_WINDOW_MS + millisecondsInDay;

/** How long a receipt waits for its submit result, in milliseconds: much longer than any call of a provider takes. */
export const PARKED_RECEIPT_LIFETIME_MS = millisecondsInHour;

/**
 * The most message ids of one provider that receipts may be parked under. Of more ids, the newest `idsKept` stay: a submit result
 * of ours is late by a second or two. Each provider has this limit for itself, so that one that sends receipts of others takes no
 * place of another.
 */
const PARKED_IDS: ParkedIdLimits = { idsMax: 10_000, idsKept: 9_000 };

/**
 * The shortest time between two sweeps of expired ids while ids are recorded, in milliseconds: recording an id must not cost a
 * further statement.
 */
const SWEEP_INTERVAL_MS = 1_000;

/**
 * Brings delivery receipts and submissions together by the provider's message ids, whichever comes first. Runs inside the
 * caller's transaction, before messages are locked: every caller locks ids first.
 */
export class CorrelateReceipts {
  readonly #clock: Clock;
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** Ids recorded since the last sweep. */
  #unswept = 0;

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
    this.#unswept += ids.length;
    if (Math.abs(now - this.#sweptAt) >= SWEEP_INTERVAL_MS) {
      const limit = this.#unswept * SWEPT_PER_ADDED;
      this.#sweptAt = now;
      this.#unswept = 0;
      await submissions.sweep(now, limit);
    }
    return parked.map((each) => eventOf(each, each));
  }

  /**
   * The events of receipts whose attempt is known, and the receipts that match none. A receipt may name its attempt although its
   * id is not recorded. It is in both lists: the attempt may have another provider, which the chain knows or learns with the
   * submit result. Receipts that were parked under its id come again behind it. Locks nothing.
   */
  async find(
    { submissions }: Stores,
    receipts: readonly SubmissionReceipt[],
  ): Promise<{ readonly events: readonly MessageEvent[]; readonly unmatched: readonly SubmissionReceipt[] }> {
    if (receipts.length === 0) return { events: [], unmatched: [] };
    const storable = receipts.map(inStoredForm);
    const found = await submissions.find(storable);
    const unmatched = storable.filter((_, index) => found[index] === null);
    const claims = unmatched.filter(({ attempt }) => attempt !== undefined);
    const parked = claims.length === 0 ? [] : await submissions.parkedUnder(claims);
    const known = storable.flatMap((each, index): readonly MessageEvent[] => {
      const recorded = found[index] ?? null;
      return recorded === null ? [] : [eventOf(recorded, each)];
    });
    const claimed = claims.flatMap((each, index) =>
      [each, ...(parked[index] ?? [])].flatMap(({ receipt, attempt = each.attempt }) =>
        attempt === undefined ? [] : [claimEvent(attempt, { ...each, receipt })],
      ),
    );
    const events = [...known, ...claimed];
    return {
      // A claimed failure counts only behind a receipt that says that its provider has the message.
      events: [...events.filter((each) => !isClaimedFailure(each)), ...events.filter(isClaimedFailure)],
      unmatched,
    };
  }

  /** The message that each receipt names, or that its id is recorded for; null when there is neither. Locks nothing. */
  async smsIdsOf(
    { submissions }: Stores,
    receipts: readonly SubmissionReceipt[],
  ): Promise<readonly (string | null)[]> {
    const found = await submissions.find(receipts.map(inStoredForm));
    return receipts.map(({ attempt }, index) => (attempt ?? found[index])?.smsId ?? null);
  }

  /**
   * Parks unmatched receipts, in place of the oldest ones when a provider has too many. Returns the events of receipts whose ids
   * were recorded meanwhile, and how many ids of each provider lost their parked receipts. Do not call it in a transaction that
   * records ids: one call locks ids in their order, two calls do not.
   */
  async park(
    { submissions }: Stores,
    unmatched: readonly SubmissionReceipt[],
  ): Promise<{ readonly events: readonly MessageEvent[]; readonly dropped: ReadonlyMap<string, number> }> {
    const now = this.#clock.now();
    const attempts = await submissions.park(unmatched, now + PARKED_RECEIPT_LIFETIME_MS);
    await submissions.sweep(now, unmatched.length * SWEPT_PER_ADDED);
    const providers = [...new Set(unmatched.map(({ providerMessageId }) => providerOf(providerMessageId)))];
    return {
      events: unmatched.flatMap((each, index): readonly MessageEvent[] => {
        const recorded = attempts[index] ?? null;
        return recorded === null ? [] : [eventOf(recorded, each)];
      }),
      dropped: await submissions.removeOldestParked(providers, PARKED_IDS),
    };
  }
}

/**
 * The event of a receipt for the attempt that its id is recorded for. When the receipt names another attempt, the event is for
 * that one: the provider gave the id with the response to another request.
 */
function eventOf(recorded: AttemptRef, each: SubmissionReceipt): MessageEvent {
  const { attempt: named } = each;
  return named === undefined || isSameAttempt(named, recorded)
    ? receiptEvent(recorded, each)
    : claimEvent(named, each);
}

/** The event of a receipt for the attempt that it names itself. The chain decides whether it counts. */
function claimEvent(attempt: AttemptRef, receipt: SubmissionReceipt): MessageEvent {
  const { smsId, event } = receiptEvent(attempt, receipt);
  const { channel, providerMessageId } = receipt;
  return { smsId, event: { ...event, claim: { channel, provider: providerOf(providerMessageId) } } };
}

function isClaimedFailure({ event }: MessageEvent): boolean {
  return event.kind === 'receipt' && event.claim !== undefined && event.receipt.kind === 'failed';
}

function receiptEvent(
  { smsId, attemptNumber }: AttemptRef,
  { providerMessageId, receipt }: SubmissionReceipt,
) {
  return {
    smsId,
    event: { kind: 'receipt', attemptNumber, providerMessageId, receipt },
  } satisfies MessageEvent;
}

/** The receipt as every database can store it, and as the ids of submit results are stored. */
function inStoredForm(given: SubmissionReceipt): SubmissionReceipt {
  const { receipt } = given;
  const clean: DeliveryReceipt =
    receipt.kind === 'failed' ? { kind: 'failed', reason: providerText(receipt.reason) } : receipt;
  return { ...given, providerMessageId: providerText(given.providerMessageId), receipt: clean };
}
