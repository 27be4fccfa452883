import { keepNewest } from '../../application/keep-newest.ts';
import { type IncomingPdu, isNack } from './pdu.ts';

/** Responses that are overdue and may still come, of one session. Those that were sent first are forgotten first. */
const OVERDUE_MAX = 1_000;

const SEQUENCE_MAX = 0x7fff_ffff;

/** The name of a response that this service waits for. */
export type AwaitedResponse =
  | 'bind_transceiver_resp'
  | 'submit_sm_resp'
  | 'enquire_link_resp'
  | 'unbind_resp';

/** Called once with the response; with null when the session ended first, or the response was none to this request. */
export type OnResponse = (response: IncomingPdu | null) => void;

interface Request {
  readonly response: AwaitedResponse;
  readonly done: OnResponse;
  /** How many PDUs the SMSC had sent before it. */
  readonly receivedBefore: number;
}

/** The requests of one session that have no response yet, by their numbers, and the responses that are overdue. */
export class OutstandingRequests {
  readonly #onInvalid: (problem: string) => void;
  readonly #requests = new Map<number, Request>();
  /** What is told of responses that come too late. */
  readonly #overdue = new Map<number, (response: IncomingPdu) => void>();
  #sequence = 0;
  #submits = 0;

  /** `onInvalid`: a response makes no sense. */
  constructor(onInvalid: (problem: string) => void) {
    this.#onInvalid = onInvalid;
  }

  /** How many `submit_sm` have no response and were not abandoned. */
  get submits(): number {
    return this.#submits;
  }

  /** Returns the number of a request that waits for its response from now on. */
  begin(response: AwaitedResponse, receivedBefore: number, done: OnResponse): number {
    const sequence = this.#nextSequence();
    if (response === 'submit_sm_resp') this.#submits += 1;
    this.#requests.set(sequence, { response, done, receivedBefore });
    return sequence;
  }

  /** Hands a response to the one who waits for it, or who did when it was due. */
  take(pdu: IncomingPdu): void {
    const request = this.#requests.get(pdu.sequence);
    if (request === undefined) {
      this.#takeLate(pdu);
      return;
    }
    const isExpected = pdu.command === request.response || isNack(pdu);
    if (!isExpected) this.#onInvalid('response');
    this.#remove(pdu.sequence, request);
    request.done(isExpected ? pdu : null);
  }

  /**
   * The response of this `submit_sm` is overdue: its `done` is not called any more, and `late` is called with a response that
   * comes after all. Returns how many PDUs the SMSC had sent before the request; null when it is not outstanding.
   */
  abandon(sequence: number, late: (response: IncomingPdu) => void): number | null {
    const request = this.#requests.get(sequence);
    if (request === undefined) return null;
    this.#remove(sequence, request);
    this.#overdue.set(sequence, late);
    keepNewest(this.#overdue, OVERDUE_MAX);
    return request.receivedBefore;
  }

  /** The session has ended: nothing more comes. */
  end(): void {
    for (const [sequence, request] of [...this.#requests]) {
      this.#remove(sequence, request);
      request.done(null);
    }
  }

  #takeLate(pdu: IncomingPdu): void {
    const late = this.#overdue.get(pdu.sequence);
    this.#overdue.delete(pdu.sequence);
    // A response that was waited for in vain is no fault; a rejection of what nobody sent is.
    if (isNack(pdu)) this.#onInvalid('generic_nack');
    else if (pdu.command === 'submit_sm_resp') late?.(pdu);
  }

  #remove(sequence: number, { response }: Request): void {
    this.#requests.delete(sequence);
    if (response === 'submit_sm_resp') this.#submits -= 1;
  }

  #nextSequence(): number {
    do {
      this.#sequence = this.#sequence === SEQUENCE_MAX ? 1 : this.#sequence + 1;
    } while (this.#requests.has(this.#sequence) || this.#overdue.has(this.#sequence));
    return this.#sequence;
  }
}
