import { FairQueue } from '../../application/providers/fair-queue.ts';
import type { Backlog } from '../../domain/jobs/fair-share.ts';
import { CLOSED_CAPACITY, type ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import type { OutgoingMessage } from './outgoing-message.ts';
import type { Timeouts } from './pdu-connection.ts';
import type { SmppSession } from './smpp-session.ts';
import { resultOfStatus, type SubmitResponse } from './submit-response.ts';

/** The limit of a provider counts what it sent in this time, in milliseconds. */
const RATE_WINDOW_MS = 1_000;
/** Later parts that the SMSC put off are sent again after this time, in milliseconds: the rate may let them go at once. */
export const PUT_OFF_PART_WAIT_MS = 1_000;

export interface SubmitQueueOptions {
  /** The sessions that take messages now. */
  readonly sessions: () => readonly SmppSession[];
  /** `submit_sm` without a response at one time, over all sessions. */
  readonly window: number;
  /** `submit_sm` in any second, over all sessions; null for no limit. */
  readonly perSecond: number | null;
  /** In milliseconds; only differences count. */
  readonly uptime: () => number;
  readonly timeouts: Timeouts;
}

/**
 * Messages that wait for a session with capacity, and for the limit of the provider or the rate of their project at an SMSC that
 * throttles it. The most urgent ones are sent first, part by part. Within a priority projects are served in rotation, and of a
 * project a message that was begun comes before a new one: without all its parts it is of no use. A message in parts is begun
 * only while few parts of the others are left, so that all of them are soon written: of a project at a rate, few of its own, and
 * those hold up no other project. A project that has none begun may always begin one.
 */
export class SubmitQueue {
  readonly #options: SubmitQueueOptions;
  readonly #waiting: FairQueue<OutgoingMessage>;
  /** Messages in parts whose first part is written, and that have no result. They wait while their next part may be written. */
  #begun: OutgoingMessage[] = [];
  /** The projects that have any. */
  readonly #withBegun = new Set<string>();
  /** The parts of those that are to be written, but of projects at a rate. */
  #unwritten = 0;
  /** The same of each project at a rate. */
  readonly #unwrittenAtRate = new Map<string, number>();
  readonly #unwrittenMax: number;
  /** What was sent within `RATE_WINDOW_MS`. */
  #sent = 0;
  /** Messages with parts that the SMSC put off and that wait for their time. */
  readonly #putOff = new Set<OutgoingMessage>();
  /** Ends the wait for a rate. */
  #cancelRateTimer = (): void => {};
  #isPumping = false;
  #pumpsSoon = false;
  /** Nothing is begun any more. */
  #isEnding = false;
  #onBegunEnded = (): void => {};
  #isClosed = false;
  readonly #timers = new Set<() => void>();
  #onHandedOver: (backlog: Backlog) => void = () => {};

  constructor(options: SubmitQueueOptions) {
    this.#options = options;
    this.#waiting = new FairQueue(options.uptime);
    this.#unwrittenMax = Math.min(options.window, options.perSecond ?? options.window);
  }

  /** Takes a message to send. It is given up soon when no session is open. */
  add(message: OutgoingMessage): void {
    this.#waiting.add(message);
    if (this.#pumpsSoon) return;
    this.#pumpsSoon = true;
    // With those that are added after it, the most urgent first.
    queueMicrotask(() => {
      this.#pumpsSoon = false;
      this.pump();
    });
  }

  /** Sends what can be sent now. Called when a session takes more than before, and when one ended. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    let sent = 0;
    try {
      sent = this.#pumpOnce();
    } finally {
      this.#isPumping = false;
    }
    if (sent > 0 && this.#options.perSecond !== null) {
      this.#sent += sent;
      this.#after(RATE_WINDOW_MS, () => {
        this.#sent -= sent;
      });
    }
    this.#pumpAtRates();
    if (this.#isEnding && this.#begun.every(({ isSettled }) => isSettled)) this.#onBegunEnded();
  }

  /** Returns how many parts were written. */
  #pumpOnce(): number {
    const sessions = this.#options.sessions();
    if (this.#isEnding || sessions.length === 0) {
      const reason = this.#isEnding ? 'The service stops' : 'The SMSC is not connected';
      for (const message of this.#waiting.takeAll()) message.giveUpUnwritten(reason);
    }
    if (this.#begun.length > 0) this.#continueBegun(sessions.length > 0);
    return this.#send(sessions);
  }

  /** The listener is told of each message whose first part is written. */
  whenHandedOver(listener: (backlog: Backlog) => void): void {
    this.#onHandedOver = listener;
  }

  /** Closed while no session is open: what comes then is given up at once. */
  capacity(backlog: Backlog): ProviderCapacity {
    const sessions = this.#options.sessions();
    if (this.#isEnding || sessions.length === 0) return CLOSED_CAPACITY;
    return this.#waiting.capacity(backlog, Math.min(placesOf(sessions), this.#leftOfLimit()));
  }

  /** The message waits no longer. */
  drop(message: OutgoingMessage): void {
    this.#waiting.drop(message);
  }

  /**
   * Begins nothing any more, and resolves when all messages in parts that were begun have their results: the SMSC may throttle
   * parts of them, or end the bind, and without those the others are of no use.
   */
  endBegun(): Promise<void> {
    this.#isEnding = true;
    return new Promise((resolve) => {
      this.#onBegunEnded = resolve;
      this.pump();
    });
  }

  /** Sends nothing any more; called after `endBegun`. Messages without a response wait for it until their session ends. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.pump();
  }

  /** A message whose session ended before all parts were written goes on over another one, until its time is over. */
  #continueBegun(isConnected: boolean): void {
    this.#unwritten = 0;
    this.#unwrittenAtRate.clear();
    this.#withBegun.clear();
    for (const message of this.#begun) {
      const isOver = this.#isClosed ? !message.isInFlight : !isConnected && this.#isLate(message);
      if (isOver) message.giveUp('The connection to the SMSC ended');
      if (message.isReady) this.#waiting.addFirst(message);
      this.#countUnwritten(message, message.unwritten);
    }
    this.#begun = this.#begun.filter(({ isSettled }) => !isSettled);
    for (const { backlog } of this.#begun) this.#withBegun.add(backlog.projectId);
  }

  /** Returns how many parts were written. */
  #send(sessions: readonly SmppSession[]): number {
    if (this.#isClosed) return 0;
    const ofLimit = this.#leftOfLimit();
    let sent = 0;
    while (sent < ofLimit && this.#sendNext(sessions)) sent += 1;
    return sent;
  }

  /** How many parts the limit of the provider allows now. */
  #leftOfLimit(): number {
    return (this.#options.perSecond ?? Number.POSITIVE_INFINITY) - this.#sent;
  }

  /** False when nothing is sent. */
  #sendNext(sessions: readonly SmppSession[]): boolean {
    const freest = freestOf(sessions);
    if (freest === null) return false;
    const free = placesOf(sessions);
    const next = (): OutgoingMessage | null => this.#waiting.take(free, this.#mayTake);
    for (let message = next(); message !== null; message = next()) {
      if (this.#isLate(message)) {
        this.#giveUpLate(message);
        continue;
      }
      const session = message.session?.isBound === true ? message.session : freest;
      // What was begun comes again with the next pump.
      if (!message.isReady || session.capacity === 0) continue;
      this.#write(message, session);
      return true;
    }
    return false;
  }

  #isLate({ endsAt }: OutgoingMessage): boolean {
    return endsAt <= this.#options.uptime();
  }

  #giveUpLate(message: OutgoingMessage): void {
    if (message.session !== null) this.#countUnwritten(message, -message.unwritten);
    message.giveUpWaiting();
    // A part without a response tells of the SMSC, too.
    const cause = message.isInFlight ? undefined : 'limited';
    message.giveUp('The time of the attempt was over before all parts were sent', cause);
  }

  #write(message: OutgoingMessage, session: SmppSession): void {
    const isBegun = message.session !== null;
    const before = isBegun ? message.unwritten : 0;
    const responded = (response: SubmitResponse) => this.#noteResponse(message, response);
    message.write(session, { responded, ended: this.#waiting.begin(message) });
    if (!isBegun) this.#onHandedOver(message.backlog);
    if (!message.isInParts) return;
    if (!isBegun) {
      this.#begun.push(message);
      this.#withBegun.add(message.backlog.projectId);
    }
    this.#countUnwritten(message, message.unwritten - before);
    if (message.isReady) this.#waiting.addFirst(message);
  }

  readonly #mayTake = (message: OutgoingMessage): boolean =>
    message.session !== null ||
    this.#mayBeginMore(message.backlog.projectId) ||
    !this.#withBegun.has(message.backlog.projectId) ||
    !message.isInParts;

  /** Of a project at a rate as many parts may be left as go out in a second. */
  #mayBeginMore(projectId: string): boolean {
    const perSecond = this.#waiting.ratePerSecond(projectId);
    if (perSecond === null) return this.#unwritten < this.#unwrittenMax;
    return (this.#unwrittenAtRate.get(projectId) ?? 0) < Math.min(perSecond, this.#unwrittenMax);
  }

  #countUnwritten({ backlog: { projectId } }: OutgoingMessage, change: number): void {
    if (this.#waiting.ratePerSecond(projectId) === null) this.#unwritten += change;
    else this.#unwrittenAtRate.set(projectId, (this.#unwrittenAtRate.get(projectId) ?? 0) + change);
  }

  #noteResponse(message: OutgoingMessage, response: SubmitResponse): void {
    if (response.kind !== 'responded') return;
    const { projectId } = message.backlog;
    this.#waiting.noteResult(projectId, resultOfStatus(response.status));
    if (!message.hasPutOff || this.#putOff.has(message)) return;
    this.#putOff.add(message);
    this.#after(PUT_OFF_PART_WAIT_MS, () => {
      this.#putOff.delete(message);
      message.endPutOff();
    });
  }

  /** Pumps again when a rate allows the next part. */
  #pumpAtRates(): void {
    this.#cancelRateTimer();
    const waitMs = this.#isClosed ? null : this.#waiting.heldByRateMs();
    this.#cancelRateTimer = waitMs === null ? () => {} : this.#after(waitMs, () => {});
  }

  /** Returns what cancels it. */
  #after(ms: number, change: () => void): () => void {
    const cancel = this.#options.timeouts(ms)(() => {
      this.#timers.delete(cancel);
      change();
      this.pump();
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }
}

/** How many more may be in flight, over all sessions. */
function placesOf(sessions: readonly SmppSession[]): number {
  return sessions.reduce((sum, { capacity }) => sum + capacity, 0);
}

/** The session with the most capacity; null when none has any. */
function freestOf(sessions: readonly SmppSession[]): SmppSession | null {
  let result: SmppSession | null = null;
  for (const session of sessions) {
    if (session.capacity > (result?.capacity ?? 0)) result = session;
  }
  return result;
}
