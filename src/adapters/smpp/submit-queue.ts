import { isThrottled, type OutgoingMessage } from './outgoing-message.ts';
import type { SmppSession, Timeouts } from './smpp-session.ts';

/** The limit of a provider counts what it sent in this time, in milliseconds. */
const RATE_WINDOW_MS = 1_000;
/** Nothing is sent for this time after the SMSC said that it takes no more, in milliseconds. */
export const THROTTLED_WAIT_MS = 1_000;

export interface SubmitQueueOptions {
  /** The sessions that take messages now. */
  readonly sessions: () => readonly SmppSession[];
  /** `submit_sm` in any second, over all sessions; null for no limit. */
  readonly perSecond: number | null;
  readonly timeouts: Timeouts;
}

/** Messages that wait for a session with capacity, in their order, and within the limit of the provider. */
export class SubmitQueue {
  readonly #options: SubmitQueueOptions;
  #waiting: OutgoingMessage[] = [];
  /** Messages whose first part is written, and whose later parts are not all. */
  #begun: OutgoingMessage[] = [];
  /** What was sent within `RATE_WINDOW_MS`. */
  #sent = 0;
  #isThrottled = false;
  #isPumping = false;
  #isClosed = false;
  readonly #timers = new Set<() => void>();

  constructor(options: SubmitQueueOptions) {
    this.#options = options;
  }

  /** Takes messages to send. They are given up at once when no session is open. */
  add(messages: readonly OutgoingMessage[]): void {
    this.#waiting.push(...messages);
    this.pump();
  }

  /** Sends what can be sent now. Called when a session takes more than before, and when one ended. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (const message of this.#begun) {
      if (message.session?.isOver === true) message.giveUp('The connection to the SMSC ended');
    }
    this.#begun = this.#begun.filter(({ isSettled }) => !isSettled);
    if (this.#isClosed || this.#options.sessions().length === 0) {
      for (const message of this.#waiting.splice(0)) message.giveUpUnwritten('The SMSC is not connected');
    }
    const sent = this.#send();
    this.#isPumping = false;
    if (sent > 0 && this.#options.perSecond !== null) {
      this.#sent += sent;
      this.#after(RATE_WINDOW_MS, () => {
        this.#sent -= sent;
      });
    }
  }

  /** Forgets messages that do not wait any more. */
  forgetSettled(): void {
    this.#waiting = this.#waiting.filter(({ isSettled }) => !isSettled);
  }

  /** Sends nothing any more. Messages without a response go on waiting for it until their session ends. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.pump();
  }

  /** Returns how many parts were written. */
  #send(): number {
    if (this.#isThrottled || this.#isClosed) return 0;
    const allowed = (this.#options.perSecond ?? Number.POSITIVE_INFINITY) - this.#sent;
    let sent = 0;
    while (sent < allowed) {
      const next = this.#next();
      if (next === null) break;
      next.message.write(next.session, (reply) => {
        if (reply.kind === 'response' && isThrottled(reply.status)) this.#throttle();
        this.pump();
      });
      sent += 1;
    }
    return sent;
  }

  /** A message that was begun comes before a new one: a message without all its parts is of no use. */
  #next(): { readonly message: OutgoingMessage; readonly session: SmppSession } | null {
    for (const message of this.#begun) {
      const { session } = message;
      if (message.isReady && session !== null && session.capacity > 0) return { message, session };
    }
    const session = this.#freest();
    if (session === null) return null;
    const message = this.#waiting.find(({ isSettled }) => !isSettled);
    if (message === undefined) return null;
    this.#waiting.splice(0, this.#waiting.indexOf(message) + 1);
    this.#begun.push(message);
    return { message, session };
  }

  #freest(): SmppSession | null {
    let freest: SmppSession | null = null;
    for (const session of this.#options.sessions()) {
      if (session.capacity > (freest?.capacity ?? 0)) freest = session;
    }
    return freest;
  }

  #throttle(): void {
    if (this.#isThrottled || this.#isClosed) return;
    this.#isThrottled = true;
    this.#after(THROTTLED_WAIT_MS, () => {
      this.#isThrottled = false;
    });
  }

  #after(ms: number, change: () => void): void {
    const cancel = this.#options.timeouts(ms)(() => {
      this.#timers.delete(cancel);
      change();
      this.pump();
    });
    this.#timers.add(cancel);
  }
}
