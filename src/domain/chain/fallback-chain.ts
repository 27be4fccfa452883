import type { Message } from '../messages/message.ts';
import { deadline } from './attempt-deadline.ts';
import { receiptArrived } from './attempt-receipt.ts';
import { submitted } from './attempt-result.ts';
import { cancel, start } from './attempt-start.ts';
import type { ChainEvent } from './chain-event.ts';
import type { ChainOutcome } from './chain-outcome.ts';

/**
 * Tells the chain what happened, and returns what to do next. Late, repeated and reversed events are ordinary input: they
 * may change what the trace shows, and never reopen, lower or charge anything a second time.
 */
export function advance(message: Message, event: ChainEvent, now: number): ChainOutcome {
  switch (event.kind) {
    case 'start':
      return start(message, event, now);
    case 'submitted':
      return submitted(message, event, now);
    case 'receipt':
      return receiptArrived(message, event, now);
    case 'deadline':
      return deadline(message, event.attemptNumber, now);
    case 'cancel':
      return cancel(message, event, now);
    default:
      return event satisfies never;
  }
}
