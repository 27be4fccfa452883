import { PROVIDER_WAIT_MS } from '../../application/ports/channel-provider.ts';
import type { OutgoingMessage } from './outgoing-message.ts';
import type { Timeouts } from './pdu-connection.ts';

/**
 * Responses count until then, in milliseconds: after `submit`, a while before the caller stops to wait; of a message in parts
 * after the last part that was written, because the caller did not see how long they waited for each other.
 */
export const RESPONSE_TIMEOUT_MS = 8_000;

interface DeadlinesOptions {
  readonly timeouts: Timeouts;
  /** The message waits no longer to be written. */
  readonly onUnwritten: (message: OutgoingMessage) => void;
}

/** Gives up messages that the SMSC does not take in time. Those that are submitted together have their timers in common. */
export class SubmitDeadlines {
  readonly #options: DeadlinesOptions;
  #latest: DeadlineGroup | null = null;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /** The group of a message that is submitted, or that has a part written, now. */
  begin(message: OutgoingMessage): DeadlineGroup {
    if (this.#latest?.isOver !== false) {
      this.#latest = new DeadlineGroup(this.#options);
      // Later ones have more time.
      queueMicrotask(() => {
        this.#latest = null;
      });
    }
    this.#latest.add(message);
    return this.#latest;
  }
}

/** Messages with the same deadlines. */
class DeadlineGroup {
  /** Those without a result, or with parts that wait for a response. */
  readonly #messages = new Set<OutgoingMessage>();
  readonly #cancelWrite: () => void;
  readonly #cancelResponse: () => void;
  #isOver = false;

  constructor({ timeouts, onUnwritten }: DeadlinesOptions) {
    this.#cancelWrite = timeouts(PROVIDER_WAIT_MS)(() => {
      for (const message of this.#messages) {
        if (message.session !== null) continue;
        message.giveUpWaiting();
        onUnwritten(message);
      }
    });
    this.#cancelResponse = timeouts(RESPONSE_TIMEOUT_MS)(() => {
      for (const message of this.#messages) {
        // Parts that wait to be written are no matter of the SMSC.
        if (message.isInFlight) message.giveUp('The SMSC did not respond');
      }
    });
  }

  /** Every message is finished: it takes no more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  add(message: OutgoingMessage): void {
    this.#messages.add(message);
  }

  /** The message is finished. */
  end(message: OutgoingMessage): void {
    this.#messages.delete(message);
    if (this.#messages.size > 0) return;
    this.#isOver = true;
    this.#cancelWrite();
    this.#cancelResponse();
  }
}
