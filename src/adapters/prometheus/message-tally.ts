import { millisecondsInSecond } from 'date-fns/constants';
import { delegate } from '../../application/delegate.ts';
import type { Stores } from '../../application/ports/stores.ts';
import type { LedgerEntry } from '../../domain/billing/ledger.ts';
import { lastChannel, type Message } from '../../domain/messages/message.ts';
import { toIqd } from '../../domain/shared/money.ts';
import type { Metrics } from './metrics.ts';

/** Of a settlement without its message, which does not happen today. */
const NO_CHANNEL = 'none';

/**
 * What one unit of work does to messages: it counts only once the unit is committed. A message has one settlement, in the
 * unit that makes its status final, so that no message counts twice.
 */
export class MessageTally {
  #accepted: readonly Message[] = [];
  readonly #saved = new Map<string, Message>();
  #settlements: readonly LedgerEntry[] = [];

  /** The stores, watched. */
  watch(stores: Stores): Stores {
    const { messages, ledger } = stores;
    return {
      ...stores,
      messages: delegate(messages, {
        insert: (inserted) => {
          this.#accepted = [...this.#accepted, ...inserted];
          return messages.insert(inserted);
        },
        save: (saved) => {
          for (const message of saved) this.#saved.set(message.smsId, message);
          return messages.save(saved);
        },
      }),
      ledger: delegate(ledger, {
        post: (entries) => {
          const settlements = entries.filter(({ kind }) => kind === 'settlement');
          this.#settlements = [...this.#settlements, ...settlements];
          return ledger.post(entries);
        },
      }),
    };
  }

  /** Counts the unit, which is committed. */
  count({ messagesAccepted, messagesFinal, timeToDelivered, moneyCaptured }: Metrics): void {
    for (const message of this.#accepted) {
      messagesAccepted.inc({ type: message.content.smsType, source: sourceOf(message) });
    }
    for (const { reference, spentDelta } of this.#settlements) {
      const message = this.#saved.get(reference);
      const channel = message === undefined ? NO_CHANNEL : lastChannel(message);
      moneyCaptured.inc({ channel }, toIqd(spentDelta));
      if (message === undefined) continue;
      const { status, createdAt, finalAt } = message;
      const source = sourceOf(message);
      messagesFinal.inc({ channel, status });
      if ((status === 'delivered' || status === 'read') && finalAt !== null) {
        timeToDelivered.observe({ channel, source }, Math.max(0, finalAt - createdAt) / millisecondsInSecond);
      }
    }
  }
}

function sourceOf({ campaignId }: Message): 'single' | 'campaign' {
  return campaignId === null ? 'single' : 'campaign';
}
