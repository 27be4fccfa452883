import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { RejectionCause, SubmitResult } from '../../domain/messages/chain-event.ts';
import { rejectedAs, unknownResult } from '../../domain/messages/submit-result.ts';
import { canonicalMessageId, type MessageIdForm } from '../../domain/sms/message-id-forms.ts';
import { smppStatus } from '../../domain/sms/smpp-status.ts';
import { ESME_RMSGQFUL, ESME_ROK, ESME_RTHROTTLED, type SubmitFields } from './pdu.ts';
import type { SmppSession, SubmitReply } from './smpp-session.ts';

/** The parts of one message that were throttled are written again this often in all. */
export const THROTTLED_RETRIES_MAX = 3;

/** A message on its way: all its parts go over one session. */
export class OutgoingMessage {
  readonly backlog: Backlog;
  readonly #parts: readonly SubmitFields[];
  readonly #submitIds: MessageIdForm;
  readonly #settle: (result: SubmitResult) => void;
  /** By part; null until the SMSC gave one. */
  readonly #ids: (string | null)[];
  /** What may be written now, by index. The others wait until the first part is taken: a rejection is then of the whole. */
  #unwritten: number[] = [0];
  /** The numbers of what has no response. */
  readonly #inFlight = new Set<number>();
  #session: SmppSession | null = null;
  #taken = 0;
  #retries = 0;
  #isSettled = false;

  /** At least one part. `settle` is called once. */
  constructor(
    backlog: Backlog,
    parts: readonly SubmitFields[],
    submitIds: MessageIdForm,
    settle: (result: SubmitResult) => void,
  ) {
    this.backlog = backlog;
    this.#parts = parts;
    this.#submitIds = submitIds;
    this.#settle = settle;
    this.#ids = parts.map(() => null);
  }

  get isInParts(): boolean {
    return this.#parts.length > 1;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Null before the first part is written. */
  get session(): SmppSession | null {
    return this.#session;
  }

  /** Whether a part may be written now. */
  get isReady(): boolean {
    return !this.#isSettled && this.#unwritten.length > 0;
  }

  /** Writes the next part; only while `isReady`. `replied` is called after its response counted, or when there is none. */
  write(session: SmppSession, replied: (reply: SubmitReply) => void): void {
    const index = this.#unwritten.shift() ?? 0;
    const part = this.#parts[index];
    if (part === undefined) return;
    this.#session = session;
    const sequence = session.submit(part, (reply) => {
      this.#inFlight.delete(sequence);
      this.#take(index, reply);
      replied(reply);
    });
    this.#inFlight.add(sequence);
  }

  /** It waits no longer to be written: nothing of it was sent, so another provider may take it. No effect afterwards. */
  giveUpUnwritten(reason: string, cause: RejectionCause = 'busy'): void {
    if (this.#session === null) this.#end(rejectedAs(cause, reason));
  }

  /** It waits no longer for responses. */
  giveUp(reason: string): void {
    this.giveUpUnwritten(reason);
    this.#endUnknown(reason);
    for (const sequence of this.#inFlight) this.#session?.abandon(sequence);
    this.#inFlight.clear();
  }

  #take(index: number, reply: SubmitReply): void {
    if (this.#isSettled) return;
    if (reply.kind === 'lost') this.#endUnknown(reply.reason);
    else if (reply.status === ESME_ROK) this.#takeId(index, reply.messageId);
    else if (index === 0) this.#reject(reply.status);
    else this.#rejectLater(index, reply.status);
  }

  /** The first part is alone on its way, so nothing of the message was taken. */
  #reject(status: number): void {
    const { class: about, reason } = smppStatus(status);
    this.#end(rejectedAs(about, reason));
  }

  #rejectLater(index: number, status: number): void {
    if (isThrottled(status) && this.#retries < THROTTLED_RETRIES_MAX) {
      this.#retries += 1;
      this.#unwritten.unshift(index);
      return;
    }
    const { reason } = smppStatus(status);
    this.#endUnknown(`The SMSC took ${this.#taken} of ${this.#parts.length} parts: ${reason}`);
  }

  #takeId(index: number, messageId: string): void {
    this.#ids[index] = messageId === '' ? null : canonicalMessageId(messageId, this.#submitIds);
    this.#taken += 1;
    if (index === 0) this.#unwritten = this.#parts.map((_, each) => each).slice(1);
    if (this.#taken < this.#parts.length) return;
    if (this.#ids.includes(null)) this.#endUnknown('The SMSC took the message and gave no usable id');
    else this.#end({ kind: 'accepted', providerMessageIds: this.#knownIds() });
  }

  #endUnknown(reason: string): void {
    // Receipts under the ids of some parts would make the whole message delivered.
    const isWhole = this.#taken === this.#parts.length;
    this.#end(unknownResult(reason, isWhole ? this.#knownIds() : []));
  }

  #end(result: SubmitResult): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(result);
  }

  /** Some SMSCs give all parts of a message the same id. */
  #knownIds(): readonly string[] {
    return [...new Set(this.#ids.filter((id) => id !== null))];
  }
}

/** Whether the SMSC asks for fewer messages. */
export function isThrottled(status: number): boolean {
  return status === ESME_RTHROTTLED || status === ESME_RMSGQFUL;
}
