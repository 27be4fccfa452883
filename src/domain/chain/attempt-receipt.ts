import type { ChannelAttempt, Message } from '../messages/message.ts';
import { raiseStatus } from '../messages/message-status.ts';
import type { DeliveryReceipt } from '../providers/delivery-receipt.ts';
import { submitted } from './attempt-result.ts';
import type { ChainEvent } from './chain-event.ts';
import type { ChainEffect, ChainOutcome } from './chain-outcome.ts';
import { finish, isCurrent, isGivenUp, next, OPEN_STATES, replace, withoutEffects } from './chain-outcome.ts';
import { withoutContent } from './quoted-content.ts';
import { LONGEST_RECEIPT_WINDOW_MS } from './receipt-window.ts';

const LATE_FAILURE_REASON = 'The provider reported a failure after the message was final';

type ReceiptEvent = Extract<ChainEvent, { kind: 'receipt' }>;

/** What the provider says later about the attempt. A message in parts is delivered when each part is. */
export function receiptArrived(before: Message, event: ReceiptEvent, now: number): ChainOutcome {
  const { attemptNumber, providerMessageId, receipt } = event;
  const named = before.attempts[attemptNumber];
  if (named === undefined || named.state === 'skipped') return withoutEffects(before);
  const claimed = withClaim(named, event, now);
  if (claimed === null) return withoutEffects(before);
  const attempt = withCharge(claimed, receipt);
  const message = attempt === named ? before : replace(before, attemptNumber, attempt);
  switch (receipt.kind) {
    case 'sent':
      return acceptedByReceipt(message, attemptNumber, now);
    case 'failed': {
      if (!OPEN_STATES.has(attempt.state) && attempt.state !== 'timed-out') return withoutEffects(message);
      const reason = reasonOf(receipt, message);
      const failed = { ...attempt, state: 'failed', reason, endedAt: now } as const;
      const afterwards = replace(message, attemptNumber, failed);
      return isCurrent(message, attemptNumber) && OPEN_STATES.has(attempt.state) && !message.isFinal
        ? next(afterwards, failed, attemptNumber, now)
        : withoutEffects(afterwards);
    }
    case 'delivered':
    case 'read': {
      const delivered = withDelivered(attempt, providerMessageId);
      const noted = replace(message, attemptNumber, delivered);
      return attempt.providerMessageIds.every((id) => delivered.deliveredIds.includes(id))
        ? succeeded(noted, attemptNumber, delivered, receipt.kind, now)
        : acceptedByReceipt(noted, attemptNumber, now);
    }
    default:
      return receipt satisfies never;
  }
}

/** Only ids of the attempt are kept, and one while they are unknown: reports may name an attempt under any number of ids. */
function withDelivered(attempt: ChannelAttempt, id: string): ChannelAttempt {
  const { providerMessageIds, deliveredIds } = attempt;
  const known = providerMessageIds.length === 0 ? [deliveredIds[0] ?? id] : providerMessageIds;
  return {
    ...attempt,
    deliveredIds: [...new Set([...deliveredIds, id])].filter((each) => known.includes(each)),
  };
}

/** Once the content is masked nobody can tell what a provider quotes of it. */
function reasonOf({ reason }: Extract<DeliveryReceipt, { kind: 'failed' }>, message: Message): string {
  return message.isFinal ? LATE_FAILURE_REASON : withoutContent(reason, message);
}

/**
 * The attempt with the provider of its receipt; null when another provider may have it. A failure counts only of a provider that
 * is known to have it: the route may have gone on to one that delivers.
 */
function withClaim(
  attempt: ChannelAttempt,
  { providerMessageId, receipt, claim }: ReceiptEvent,
  now: number,
): ChannelAttempt | null {
  if (claim === undefined) return attempt;
  // Later on the message may be anonymised already.
  const isOver = now >= attempt.startedAt + LONGEST_RECEIPT_WINDOW_MS;
  if (isOver || attempt.channel !== claim.channel) return null;
  const { provider, providerMessageIds } = attempt;
  if (providerMessageIds.includes(providerMessageId)) return attempt;
  const isDelivered = receipt.kind === 'delivered' || receipt.kind === 'read';
  if (providerMessageIds.length > 0) {
    // The id that it was given is of another request. What was delivered by its name is of this attempt all the same. A failure
    // may be of an earlier try under that name.
    return isDelivered && provider === claim.provider
      ? { ...attempt, providerMessageIds: [providerMessageId] }
      : null;
  }
  if (provider !== undefined) return provider === claim.provider ? attempt : null;
  return receipt.kind === 'failed' ? null : { ...attempt, provider: claim.provider };
}

/** The charge of a delivered message counts; that of a sent one is only expected, and may come after it. */
function withCharge(attempt: ChannelAttempt, receipt: DeliveryReceipt): ChannelAttempt {
  if (receipt.kind === 'failed' || receipt.charge === undefined) return attempt;
  if (receipt.kind === 'sent' && attempt.charge !== undefined) return attempt;
  return { ...attempt, charge: receipt.charge };
}

/** The provider took the message, or part of it, and its fate is open still. */
function acceptedByReceipt(message: Message, attemptNumber: number, now: number): ChainOutcome {
  const result = { kind: 'accepted', providerMessageIds: [] } as const;
  return submitted(message, { kind: 'submitted', attemptNumber, result }, now);
}

function succeeded(
  message: Message,
  attemptNumber: number,
  attempt: ChannelAttempt,
  receipt: 'delivered' | 'read',
  now: number,
): ChainOutcome {
  const kind = attempt.channel === 'sms' ? 'delivered' : receipt;
  const state = attempt.state === 'read' ? 'read' : kind;
  const afterwards = replace(message, attemptNumber, {
    ...attempt,
    state,
    reason: null,
    endedAt: attempt.endedAt ?? now,
  });
  if (message.isFinal) {
    const wasDeliveredHere = attempt.state === 'delivered' && message.status === 'delivered';
    return withoutEffects(
      wasDeliveredHere ? { ...afterwards, status: raiseStatus(message.status, kind) } : afterwards,
    );
  }
  const final: Message = {
    ...finish(afterwards, now),
    status: raiseStatus(message.status, kind),
    sentAt: message.sentAt ?? now,
  };
  const sent: readonly ChainEffect[] =
    message.status === 'pending'
      ? [
          {
            kind: 'status-changed',
            status: 'sent',
            channel: attempt.channel,
            isFinal: false,
            reason: null,
          },
        ]
      : [];
  return {
    message: final,
    effects: [
      ...sent,
      {
        kind: 'status-changed',
        status: 'delivered',
        channel: attempt.channel,
        isFinal: true,
        reason: null,
      },
      { kind: 'settle', channel: attempt.channel },
      ...unscheduleOpen(message),
      ...revokeLater(final, attemptNumber),
    ],
  };
}

/** A late receipt ended the chain while a later attempt is on its way: the handset should not get both. */
function revokeLater(message: Message, attemptNumber: number): readonly ChainEffect[] {
  const last = message.attempts.length - 1;
  const isNamed = (message.attempts[last]?.providerMessageIds.length ?? 0) > 0;
  return last > attemptNumber && isNamed && isGivenUp(message, last)
    ? [{ kind: 'revoke', attemptNumber: last }]
    : [];
}

/** After the final status neither the deadline of the current attempt nor the start of the next one is needed. */
function unscheduleOpen(message: Message): readonly ChainEffect[] {
  const current = message.attempts.length - 1;
  const waiting: ChainEffect[] = [{ kind: 'unschedule', attemptNumber: current }];
  if (current + 1 < message.channels.length) waiting.push({ kind: 'unschedule', attemptNumber: current + 1 });
  return waiting;
}
