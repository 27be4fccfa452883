import { clearTimeout, setTimeout } from 'node:timers';
import type { SimulatedMessage } from '../../adapters/simulator/simulator.ts';
import { canonicalPhoneNumber, isPhoneNumber, type PhoneNumber } from '../../domain/shared/phone-number.ts';

/** How long `next` waits by the process clock: much longer than the service needs, much shorter than a test may take. */
const NEXT_TIMEOUT_MS = 1_000;

/** The newest messages that an error lists. */
const LISTED_MAX = 20;

/** A message as a handset shows it. */
export interface InboxMessage extends SimulatedMessage {
  /** The verification code, when it is one. */
  readonly code: string | null;
}

/** Which messages: those to one number in any spelling that a send takes, on one channel, or all. */
export interface InboxFilter {
  readonly to?: string;
  readonly channel?: string;
}

interface Waiter {
  readonly filter: InboxFilter;
  readonly resolve: (message: InboxMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: NodeJS.Timeout;
}

/** One number for every spelling. Throws for what is no phone number. */
export function handsetOf(phoneNumber: string): PhoneNumber {
  if (isPhoneNumber(phoneNumber)) return canonicalPhoneNumber(phoneNumber);
  throw new Error(`"${phoneNumber}" is no phone number: write 10 to 15 digits, for example 9647701234567`);
}

/** Every message that reached a handset, in the order it was submitted. */
export class Inbox {
  #messages: InboxMessage[] = [];
  #unread: InboxMessage[] = [];
  #waiters: Waiter[] = [];
  /** What a script threw last. */
  #failure: unknown = null;

  /** All messages that match. Throws for what is no phone number. */
  all(given: InboxFilter = {}): readonly InboxMessage[] {
    const filter = ofHandset(given);
    return this.#messages.filter((message) => matches(message, filter));
  }

  /**
   * The first message that matches and was not returned before, at once or when it arrives. Rejects after `timeoutMs`
   * of real time, one second when it is left out; the error lists what the inbox holds. Throws for what is no phone number.
   */
  next({ timeoutMs = NEXT_TIMEOUT_MS, ...given }: InboxFilter & { readonly timeoutMs?: number } = {}) {
    const filter = ofHandset(given);
    const index = this.#unread.findIndex((message) => matches(message, filter));
    const [found] = index === -1 ? [] : this.#unread.splice(index, 1);
    // A timer knows nothing of the test that waits.
    const caller = new Error();
    Error.captureStackTrace(caller, this.next);
    return new Promise<InboxMessage>((resolve, reject) => {
      if (found !== undefined) return resolve(found);
      const timeout = setTimeout(() => {
        this.#waiters = this.#waiters.filter((waiter) => waiter.timeout !== timeout);
        const message = `${describeFilter(filter)} arrived within ${timeoutMs} ms. ${this.#describe()}`;
        reject(errorAt(caller, message));
      }, timeoutMs);
      this.#waiters.push({ filter, resolve, reject, timeout });
    });
  }

  /** What they wait for may never come: a script threw. */
  fail(error: unknown): void {
    this.#failure = error;
    for (const { timeout, reject } of this.#waiters.splice(0)) {
      clearTimeout(timeout);
      reject(error);
    }
  }

  clear(): void {
    this.#messages = [];
    this.#unread = [];
  }

  /** Called by the simulator. A rejected message never reached a handset. */
  receive(submission: SimulatedMessage): void {
    if (submission.result === 'rejected') return;
    const { content } = submission;
    const message = {
      ...submission,
      code: content.smsType === 'verification' ? content.verificationCode : null,
    };
    this.#messages.push(message);
    const waiter = this.#waiters.find(({ filter }) => matches(message, filter));
    if (waiter === undefined) {
      this.#unread.push(message);
      return;
    }
    clearTimeout(waiter.timeout);
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    waiter.resolve(message);
  }

  #describe(): string {
    const failure = this.#failure === null ? '' : ` A script threw: ${this.#failure}`;
    if (this.#messages.length === 0) return `The inbox is empty.${failure}`;
    const unread = new Set(this.#unread);
    const lines = this.#messages
      .slice(-LISTED_MAX)
      .map((message) => `  ${describe(message)}${unread.has(message) ? '' : ' (returned before)'}`);
    return `The inbox holds ${this.#messages.length}, the newest last:\n${lines.join('\n')}${failure}`;
  }
}

/** An error with that message, thrown where the other one was made. */
function errorAt({ stack = '' }: Error, message: string): Error {
  const error = new Error(message);
  error.stack = `${error.name}: ${message}\n${stack.split('\n').slice(1).join('\n')}`;
  return error;
}

/** The filter with one spelling of its number. */
function ofHandset({ to, channel }: InboxFilter): InboxFilter {
  return { ...(to !== undefined && { to: handsetOf(to) }), ...(channel !== undefined && { channel }) };
}

function matches(message: InboxMessage, { to, channel }: InboxFilter): boolean {
  return (
    (to === undefined || message.phoneNumber === to) && (channel === undefined || message.channel === channel)
  );
}

function describeFilter({ to, channel }: InboxFilter): string {
  const number = to === undefined ? '' : ` to ${to}`;
  return `No message${number}${channel === undefined ? '' : ` on ${channel}`}`;
}

function describe({ phoneNumber, channel, content, code }: InboxMessage): string {
  return `${content.smsType} to ${phoneNumber} on ${channel}${code === null ? '' : `, code ${code}`}`;
}
