import type { ChainEvent, ReceiptClaim } from '../../src/domain/chain/chain-event.ts';
import type { ChainEffect } from '../../src/domain/chain/chain-outcome.ts';
import type { DeliveryReceipt } from '../../src/domain/providers/delivery-receipt.ts';
import type { SubmitResult } from '../../src/domain/providers/submit-result.ts';

export const start = (attemptNumber: number, startId?: string): ChainEvent => ({
  kind: 'start',
  attemptNumber,
  ...(startId === undefined ? {} : { startId }),
});
export const deadline = (attemptNumber: number): ChainEvent => ({ kind: 'deadline', attemptNumber });
/** The id of a message whose provider named one, or none. */
const ONLY_ID = 'provider-1';

export const receiptArrived = (
  attemptNumber: number,
  kind: 'sent' | 'delivered' | 'read',
  providerMessageId = ONLY_ID,
): ChainEvent => ({ kind: 'receipt', attemptNumber, providerMessageId, receipt: { kind } });
export const receiptFailed = (
  attemptNumber: number,
  reason: string,
  providerMessageId = ONLY_ID,
): ChainEvent => ({
  kind: 'receipt',
  attemptNumber,
  providerMessageId,
  receipt: { kind: 'failed', reason },
});
/** The same receipt, of a provider whose ids are ours. */
export const claimed = (
  event: ChainEvent,
  claim: ReceiptClaim = { channel: 'sms', provider: 'first' },
): ChainEvent => (event.kind === 'receipt' ? { ...event, claim } : event);
export const submitted = (attemptNumber: number, result: SubmitResult, startId?: string): ChainEvent => ({
  kind: 'submitted',
  attemptNumber,
  startId,
  result,
});
export const accepted = (attemptNumber: number, ...providerMessageIds: readonly string[]): ChainEvent =>
  submitted(attemptNumber, { kind: 'accepted', providerMessageIds });
export const rejected = (attemptNumber: number, reason: string, endsChain = false): ChainEvent =>
  submitted(attemptNumber, { kind: 'rejected', reason, endsChain });
export const busy = (attemptNumber: number): ChainEvent =>
  submitted(attemptNumber, { kind: 'rejected', reason: 'Busy', endsChain: false, cause: 'busy' });
export const unknown = (
  attemptNumber: number,
  reason: string,
  ...providerMessageIds: readonly string[]
): ChainEvent => submitted(attemptNumber, { kind: 'unknown', reason, providerMessageIds });

export const RECEIPT_KINDS: readonly Exclude<DeliveryReceipt['kind'], 'failed'>[] = [
  'sent',
  'delivered',
  'read',
];

/** An effect in a few words; deadlines count from `now`. */
export function inWords(effect: ChainEffect, now: number): string {
  switch (effect.kind) {
    case 'submit':
      return `submit ${effect.attemptNumber}`;
    case 'revoke':
      return `revoke ${effect.attemptNumber}`;
    case 'schedule-start':
      return effect.at === now
        ? `start ${effect.attemptNumber}`
        : `start ${effect.attemptNumber} in ${effect.at - now}`;
    case 'schedule-deadline':
      return `deadline ${effect.attemptNumber} in ${effect.at - now}`;
    case 'unschedule':
      return `unschedule ${effect.attemptNumber}`;
    case 'settle':
      return effect.channel === null ? 'release' : `capture for ${effect.channel}`;
    case 'stop-campaign':
      return `stop the campaign: ${effect.reason}`;
    case 'status-changed': {
      const reason = effect.reason === null ? '' : `: ${effect.reason}`;
      return `${effect.isFinal ? 'finally ' : ''}${effect.status} ${effect.channel}${reason}`;
    }
    default:
      return effect satisfies never;
  }
}
