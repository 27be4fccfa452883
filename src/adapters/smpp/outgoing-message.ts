import { type Submission, WAITED_TOO_LONG_REASON } from '../../application/ports/channel-provider.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import {
  isForLater,
  rejectedAs,
  type SubmitResult,
  unknownResult,
} from '../../domain/providers/submit-result.ts';
import { invariant } from '../../domain/shared/invariant.ts';
import { canonicalMessageId, type MessageIdForm } from '../../domain/sms/message-id-forms.ts';
import { smppStatus } from '../../domain/sms/smpp-status.ts';
import { ESME_ROK } from './pdu.ts';
import type { SubmitFields } from './pdu-writer.ts';
import type { SmppSession } from './smpp-session.ts';
import { resultOfStatus, type SubmitResponse, submitResponseOf } from './submit-response.ts';

export interface OutgoingOptions {
  /** The `submit_sm` of each part, at least one. */
  readonly partsOf: (submission: Submission) => readonly SubmitFields[];
  readonly submitIds: MessageIdForm;
}

/** What a message tells on its way. */
export interface OutgoingEvents {
  /** Called once, with the result. */
  readonly settled: (result: SubmitResult) => void;
  /** Called once, when the SMSC turns out to have taken the whole message, with its ids; `settled` said `unknown` before. */
  readonly takenLate: (providerMessageIds: readonly string[]) => void;
  /** Called after each part that was written of a message with several. */
  readonly partWritten: () => void;
  /** Called once, when it is settled and no part waits for a response. */
  readonly finished: () => void;
}

/** What a part tells that was written. */
interface PartEvents {
  /** Called after its response counted, or after its session ended. Not called when the message is given up before. */
  readonly responded: (response: SubmitResponse) => void;
  /** Called once, before its place in the window is free. */
  readonly ended: () => void;
}

interface Part {
  readonly fields: SubmitFields;
  state: 'unwritten' | 'in-flight' | 'put-off' | 'over';
  /** The session of its last `submit_sm`. */
  session: SmppSession | null;
  /** The sequence number of its last `submit_sm`. */
  sequence: number;
  /** Ends the flight of its last `submit_sm`. */
  ended: () => void;
  /** Null until the SMSC gave one. */
  id: string | null;
}

const NO_PARTS: readonly Part[] = [];

const WAITED_TOO_LONG = rejectedAs('limited', WAITED_TOO_LONG_REASON);

/** A message on its way: its parts go over one session, and over others when that has ended. */
export class OutgoingMessage {
  readonly #submission: Submission;
  readonly #options: OutgoingOptions;
  readonly #events: OutgoingEvents;
  readonly #endsAt: number;
  /** Made when the first one may be written: many messages wait, and few are on their way. */
  #parts: readonly Part[] = NO_PARTS;
  #session: SmppSession | null = null;
  #taken = 0;
  #isSettled = false;
  #isFinished = false;

  /** `submittedAt` is the `uptime` of the provider. */
  constructor(submission: Submission, options: OutgoingOptions, events: OutgoingEvents, submittedAt: number) {
    this.#submission = submission;
    this.#endsAt = submittedAt + submission.attemptTimeoutMs;
    this.#options = options;
    this.#events = events;
  }

  get backlog(): Backlog {
    return this.#submission;
  }

  /** Whether it has more than one part. */
  get isInParts(): boolean {
    this.#makeParts();
    return this.#parts.length > 1;
  }

  /** How many parts are still to be written; 0 when it is settled. */
  get unwritten(): number {
    if (this.#isSettled) return 0;
    return this.#parts.filter(({ state }) => state === 'unwritten' || state === 'put-off').length;
  }

  /** Whether a part waits for its response. */
  get isInFlight(): boolean {
    return this.#parts.some(({ state }) => state === 'in-flight');
  }

  /** Whether the SMSC took a part, and put another off. That may be written after `endPutOff`. */
  get hasPutOff(): boolean {
    return this.#parts.some(({ state }) => state === 'put-off');
  }

  endPutOff(): void {
    for (const part of this.#parts) if (part.state === 'put-off') part.state = 'unwritten';
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Nothing is written from this `uptime` on: the chain moved on. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** The session of the part that was written last; null before the first one. */
  get session(): SmppSession | null {
    return this.#session;
  }

  /** Whether a part may be written now. */
  get isReady(): boolean {
    return !this.#isSettled && (this.#session === null || this.#nextPart() !== undefined);
  }

  /** Writes the next part; only while `isReady`. */
  write(session: SmppSession, { responded, ended }: PartEvents): void {
    this.#makeParts();
    const part = this.#nextPart();
    invariant(part !== undefined, 'a message is written while a part of it may be');
    this.#session = session;
    part.session = session;
    part.state = 'in-flight';
    part.ended = ended;
    part.sequence = session.submit(part.fields, (pdu) => {
      const response = submitResponseOf(pdu);
      part.state = 'over';
      ended();
      this.#take(part, response);
      this.#finishIfOver();
      responded(response);
    });
    if (this.#parts.length > 1) this.#events.partWritten();
  }

  /** It waits no longer to be written: nothing of it was sent, so another provider may take it. No effect afterwards. */
  giveUpUnwritten(reason: string): void {
    if (this.#session === null) this.#end(rejectedAs('busy', reason));
  }

  /** The same when it has waited for as long as it may. */
  giveUpWaiting(): void {
    if (this.#session === null) this.#end(WAITED_TOO_LONG);
  }

  /** It waits no longer for responses. Those that come all the same are told with `takenLate`. */
  giveUp(reason: string, cause?: 'limited'): void {
    this.giveUpUnwritten(reason);
    this.#endUnknown(reason, cause);
    for (const part of this.#parts) {
      if (part.state !== 'in-flight') continue;
      part.state = 'over';
      part.ended();
      part.session?.abandon(part.sequence, (pdu) => this.#takeLate(part, submitResponseOf(pdu)));
    }
    this.#finishIfOver();
  }

  #makeParts(): void {
    if (this.#parts !== NO_PARTS) return;
    const parts = this.#options.partsOf(this.#submission);
    this.#parts = parts.map((fields) => ({
      fields,
      state: 'unwritten',
      session: null,
      sequence: 0,
      ended: () => {},
      id: null,
    }));
  }

  /** The others wait until the first part is taken: a rejection is then of the whole. */
  #nextPart(): Part | undefined {
    const [first] = this.#parts;
    if (this.#taken > 0) return this.#parts.find(({ state }) => state === 'unwritten');
    return first?.state === 'unwritten' ? first : undefined;
  }

  #take(part: Part, response: SubmitResponse): void {
    if (this.#isSettled) return;
    if (response.kind === 'lost') this.#endUnknown(response.reason);
    else if (response.status === ESME_ROK) this.#takeId(part, response.messageId);
    // The first part is alone on its way, so nothing of the message was taken.
    else if (this.#taken === 0) this.#end(resultOfStatus(response.status));
    else this.#rejectLater(part, response.status);
  }

  /** A rejection that comes late changes nothing: the chain has an `unknown` result, and goes on at its deadline. */
  #takeLate(part: Part, response: SubmitResponse): void {
    if (response.kind === 'lost' || response.status !== ESME_ROK) return;
    this.#keepId(part, response.messageId);
    const isWhole = this.#parts.every(({ id }) => id !== null);
    if (isWhole) this.#events.takenLate(this.#knownIds());
  }

  #rejectLater(part: Part, status: number): void {
    if (isForLater(resultOfStatus(status))) {
      // It was certainly not taken, and without it the others are of no use.
      part.state = 'put-off';
      return;
    }
    const { reason } = smppStatus(status);
    this.#endUnknown(`The SMSC took ${this.#taken} of ${this.#parts.length} parts: ${reason}`);
  }

  #keepId(part: Part, messageId: string): void {
    part.id = messageId === '' ? null : canonicalMessageId(messageId, this.#options.submitIds);
    this.#taken += 1;
  }

  #takeId(part: Part, messageId: string): void {
    this.#keepId(part, messageId);
    if (this.#taken < this.#parts.length) return;
    if (this.#parts.every(({ id }) => id !== null)) {
      this.#end({ kind: 'accepted', providerMessageIds: this.#knownIds() });
    } else {
      this.#endUnknown('The SMSC took the message and gave no usable id');
    }
  }

  #endUnknown(reason: string, cause?: 'limited'): void {
    // Receipts under the ids of some parts would make the whole message delivered.
    const isWhole = this.#taken === this.#parts.length;
    this.#end(unknownResult(reason, isWhole ? this.#knownIds() : [], cause));
  }

  #end(result: SubmitResult): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#events.settled(result);
    this.#finishIfOver();
  }

  /** A later part may be rejected while others are in flight: they keep their places in the window. */
  #finishIfOver(): void {
    if (this.#isFinished || !this.#isSettled) return;
    if (this.isInFlight) return;
    this.#isFinished = true;
    this.#events.finished();
  }

  /** Some SMSCs give all parts of a message the same id. */
  #knownIds(): readonly string[] {
    const ids: string[] = [];
    for (const { id } of this.#parts) if (id !== null && !ids.includes(id)) ids.push(id);
    return ids;
  }
}
