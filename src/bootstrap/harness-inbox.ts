import type { SimulatedMessage } from '../adapters/simulator/simulator.ts';

/** A message as a handset shows it. */
export interface InboxMessage extends SimulatedMessage {
  /** The verification code, when it is one. */
  readonly code: string | null;
}

interface Wanted {
  readonly to?: string;
  readonly channel?: string;
}

interface Waiter {
  readonly wanted: Wanted;
  readonly resolve: (message: InboxMessage) => void;
}

/** Everything the simulated channels took, in the order they took it. */
export class Inbox {
  #messages: InboxMessage[] = [];
  #unread: InboxMessage[] = [];
  #waiters: Waiter[] = [];

  /** All of it, or what fits. */
  all(wanted: Wanted = {}): readonly InboxMessage[] {
    return this.#messages.filter((message) => fits(message, wanted));
  }

  /** The first message that fits and was not given out yet, at once or as soon as it arrives. */
  next(wanted: Wanted = {}): Promise<InboxMessage> {
    const index = this.#unread.findIndex((message) => fits(message, wanted));
    const [found] = index === -1 ? [] : this.#unread.splice(index, 1);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiters.push({ wanted, resolve }));
  }

  clear(): void {
    this.#messages = [];
    this.#unread = [];
  }

  /** Called by the simulated channels; what they refused never reached a handset. */
  receive(submission: SimulatedMessage): void {
    if (submission.result === 'rejected') return;
    const { content } = submission;
    const message = {
      ...submission,
      code: content.smsType === 'verification' ? content.verificationCode : null,
    };
    this.#messages.push(message);
    const waiter = this.#waiters.find(({ wanted }) => fits(message, wanted));
    if (waiter === undefined) {
      this.#unread.push(message);
      return;
    }
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    waiter.resolve(message);
  }
}

function fits(message: InboxMessage, { to, channel }: Wanted): boolean {
  return (
    (to === undefined || message.phoneNumber === to) && (channel === undefined || message.channel === channel)
  );
}
