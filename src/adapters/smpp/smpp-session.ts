import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import { onNextRound } from '../../application/concurrency/next-round.ts';
import { RoundTime } from '../../application/concurrency/round-time.ts';
import { codeOrName } from '../../application/errors/error-text.ts';
import type { Timeout } from '../../application/ports/timeout.ts';
import { smppStatus } from '../../domain/sms/smpp-status.ts';
import { type AwaitedResponse, type OnResponse, OutstandingRequests } from './outstanding-requests.ts';
import { encodePdu } from './packaged-pdu.ts';
import {
  ESME_RBINDFAIL,
  ESME_RINVCMDID,
  ESME_RINVPASWD,
  ESME_RINVSYSID,
  ESME_ROK,
  INTERFACE_VERSION,
  type IncomingPdu,
  isNack,
} from './pdu.ts';
import { PduFramer } from './pdu-framer.ts';
import { decodePdu } from './pdu-reader.ts';
import { PduWriter, type SubmitFields } from './pdu-writer.ts';

/** To connect and to bind, in milliseconds. */
export const BIND_TIMEOUT_MS = 8_000;
/** An SMSC that does not respond to `enquire_link` within this time is gone, in milliseconds. */
export const ENQUIRE_LINK_TIMEOUT_MS = 10_000;
/** The connection is closed when the SMSC leaves more than this unread, in octets. */
const UNREAD_BYTES_MAX = 1_048_576;

/** The last response of a session goes out within this time, or the connection is closed without it, in milliseconds. */
export const LAST_RESPONSE_TIMEOUT_MS = 1_000;

/** A timeout of the given milliseconds. */
export type Timeouts = (ms: number) => Timeout;

/** Where an SMSC is. */
export interface SmscAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Certificates of authorities in PEM, instead of the usual ones. */
  readonly ca?: string | undefined;
}

export interface SmscCredentials {
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
}

/** Opens a TCP connection to an address. The socket emits `connect`, or `error`. */
export type ConnectTcp = (address: Pick<SmscAddress, 'host' | 'port'>) => Socket;
/** Opens TLS to an address. The socket emits `secureConnect`, or `error`. */
export type ConnectTls = (address: Omit<SmscAddress, 'tls'>) => TLSSocket;

export interface SmppSessionOptions {
  readonly address: SmscAddress;
  readonly connectTcp: ConnectTcp;
  readonly connectTls: ConnectTls;
  readonly credentials: SmscCredentials;
  /** `submit_sm` without a response at one time. */
  readonly window: number;
  readonly enquireLinkMs: number;
  /** How long it reads PDUs in one round of the event loop, in milliseconds. */
  readonly readingMs: number;
  readonly timeouts: Timeouts;
  /** A `deliver_sm` came; it is responded to with `respond`. */
  readonly onDelivery: (pdu: IncomingPdu) => void;
  /** The SMSC sent what makes no sense. */
  readonly onInvalid: (problem: string) => void;
  /** The session takes more than before, or nothing any more. */
  readonly onChange: () => void;
}

/** How a bind ended. `areCredentialsRejected`: it makes no sense to try again soon. */
export type BindResult =
  | { readonly kind: 'bound' }
  | { readonly kind: 'failed'; readonly reason: string; readonly areCredentialsRejected: boolean };

/** `closing`: nothing more comes or is written, and what came is read. */
type State = 'new' | 'binding' | 'bound' | 'unbinding' | 'closing' | 'ended';

const CREDENTIALS_REJECTED: ReadonlySet<number> = new Set([ESME_RBINDFAIL, ESME_RINVPASWD, ESME_RINVSYSID]);

/** One connection with one bind as transceiver, from its beginning to its end. */
export class SmppSession {
  readonly #options: SmppSessionOptions;
  readonly #framer = new PduFramer();
  readonly #writer = new PduWriter();
  readonly #requests: OutstandingRequests;
  /** Resolves with the reason once the session is over. */
  readonly ended: Promise<string>;
  #resolveEnded: (reason: string) => void = () => {};
  #socket: Socket | null = null;
  #state: State = 'new';
  #received = 0;
  #hasServed = false;
  /** A response is overdue, and nothing came since. */
  #isSilent = false;
  /** What is written is sent when the current callback has ended. */
  #isSending = false;
  #cancelEnquiry: () => void = () => {};
  #isEnquiring = false;
  readonly #readingTime: RoundTime;
  /** The rest of what came is read in the next round. */
  #isPaused = false;
  /** Why it is closing. */
  #closingReason = '';

  constructor(options: SmppSessionOptions) {
    this.#options = options;
    this.#requests = new OutstandingRequests(options.onInvalid);
    this.#readingTime = new RoundTime(
      () => options.readingMs,
      () => performance.now(),
    );
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get isOver(): boolean {
    return this.#state === 'ended';
  }

  get isBound(): boolean {
    return this.#state === 'bound';
  }

  /** Whether its SMSC sent anything after the bind but the end. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Whether it is bound and its SMSC responds. */
  get isUsable(): boolean {
    return this.#state === 'bound' && !this.#isSilent;
  }

  /** How many more `submit_sm` it takes now. */
  get capacity(): number {
    return this.isUsable ? this.#options.window - this.#requests.submits : 0;
  }

  /** Connects and binds; called once. Never rejects. */
  bind(): Promise<BindResult> {
    const { credentials, timeouts } = this.#options;
    this.#state = 'binding';
    return new Promise((resolve) => {
      const finish = (result: BindResult): void => {
        cancel();
        resolve(result);
        if (result.kind === 'failed') this.#end(result.reason);
      };
      const fail = (reason: string, areCredentialsRejected = false): void =>
        finish({ kind: 'failed', reason, areCredentialsRejected });
      const cancel = timeouts(BIND_TIMEOUT_MS)(() => fail('The SMSC did not respond to the bind'));
      this.ended.then((reason) => fail(reason));
      const fields = {
        system_id: credentials.systemId,
        password: credentials.password,
        system_type: credentials.systemType,
        interface_version: INTERFACE_VERSION,
      };
      this.#connect(() =>
        this.#request('bind_transceiver', fields, (response) => {
          if (response === null) return fail('The SMSC closed the connection');
          const { status } = response;
          if (status !== ESME_ROK || isNack(response)) {
            return fail(`The bind failed: ${smppStatus(status).reason}`, CREDENTIALS_REJECTED.has(status));
          }
          // The connection is over already, and `ended` says why.
          if (this.#state !== 'binding') return;
          this.#state = 'bound';
          this.#enquireLater();
          finish({ kind: 'bound' });
        }),
      );
    });
  }

  /** Sends a `submit_sm` while there is capacity; returns its number. `done` is called once, with null when the session ends. */
  submit(fields: SubmitFields, done: OnResponse): number {
    const sequence = this.#begin('submit_sm_resp', done);
    if (this.#isWritable) {
      this.#writer.submit(sequence, fields);
      this.#sendSoon();
    }
    return sequence;
  }

  /**
   * The response of this `submit_sm` is overdue: `done` is not called any more, and its place in the window is free. `late` is
   * called with a response that comes after all. A silent SMSC is asked whether it is there.
   */
  abandon(sequence: number, late: (response: IncomingPdu) => void): void {
    const receivedBefore = this.#requests.abandon(sequence, late);
    if (receivedBefore === null) return;
    // An SMSC that responded to others since then is only slow.
    if (this.#state === 'bound' && receivedBefore === this.#received) {
      this.#isSilent = true;
      this.#enquire();
    }
    this.#options.onChange();
  }

  /** Responds to a request of the SMSC; nothing when the session is over. */
  respond(command: 'deliver_sm' | 'enquire_link' | 'unbind', sequence: number, status = ESME_ROK): void {
    if (!this.#isWritable) return;
    if (command === 'deliver_sm') this.#writer.deliverResponse(sequence, status);
    else this.#writer.add(encodePdu(`${command}_resp`, sequence, { command_status: status }));
    this.#sendSoon();
  }

  /** Unbinds and closes; takes `limitMs` at most. Responses that come meanwhile still count. */
  async unbind(limitMs: number): Promise<void> {
    if (this.#state === 'bound') {
      this.#state = 'unbinding';
      const cancel = this.#options.timeouts(limitMs)(() => this.#close('The session was closed'));
      this.#request('unbind', {}, () => this.#end('The session was closed'));
      await this.ended;
      cancel();
    } else if (this.#state === 'closing') {
      await this.ended;
    } else {
      this.#end('The session was closed');
    }
  }

  #connect(onConnect: () => void): void {
    const { address, connectTcp, connectTls } = this.#options;
    const { tls, ...peer } = address;
    const socket = tls ? connectTls(peer) : connectTcp(peer);
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.once(tls ? 'secureConnect' : 'connect', onConnect);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#close(`The connection failed: ${codeOrName(error)}`));
    socket.on('end', () => {
      this.#destroySoon(socket);
      this.#close('The SMSC closed the connection');
    });
    socket.on('close', () => this.#close('The SMSC closed the connection'));
  }

  #receive(chunk: Buffer): void {
    // The socket may still be open, for the response to an unbind.
    if (this.isOver || this.#state === 'closing') return;
    this.#framer.push(chunk);
    if (!this.#isPaused) this.#read();
  }

  #read(): void {
    let takesMore = false;
    try {
      for (let octets = this.#nextPdu(); octets !== null; octets = this.#nextPdu()) {
        takesMore = this.#take(decodePdu(octets)) || takesMore;
      }
    } catch (error) {
      this.#options.onInvalid('length');
      this.#end(error instanceof Error ? error.message : 'The SMSC sent what is no PDU');
    }
    // Once for all PDUs of the round.
    if (takesMore) this.#options.onChange();
    if (this.#state === 'closing' && !this.#isPaused) this.#end(this.#closingReason);
  }

  /** Null when the session is over, when no PDU is whole, and when this round has had its time. */
  #nextPdu(): Buffer | null {
    if (this.isOver) return null;
    if (this.#readingTime.isLeft()) return this.#framer.next();
    this.#isPaused = true;
    // An SMSC that sends more than is read waits, as TCP has it.
    this.#socket?.pause();
    onNextRound(() => {
      this.#isPaused = false;
      this.#socket?.resume();
      this.#read();
    });
    return null;
  }

  /** Returns whether the session takes more than before. */
  #take(pdu: IncomingPdu): boolean {
    const wasSilent = this.#isSilent;
    this.#isSilent = false;
    this.#received += 1;
    if (this.isBound && pdu.command !== 'unbind') this.#hasServed = true;
    if (pdu.isResponse) this.#requests.take(pdu);
    else this.#takeRequest(pdu);
    return wasSilent || pdu.isResponse;
  }

  #takeRequest(pdu: IncomingPdu): void {
    switch (pdu.command) {
      case 'deliver_sm':
        this.#options.onDelivery(pdu);
        break;
      case 'enquire_link':
        this.respond('enquire_link', pdu.sequence);
        break;
      case 'unbind':
        this.respond('unbind', pdu.sequence);
        this.#closeSoon();
        this.#end('The SMSC unbound the session');
        break;
      case 'alert_notification':
      case 'outbind':
        // Neither has a response.
        break;
      default:
        this.#options.onInvalid('command');
        this.#write(encodePdu('generic_nack', pdu.sequence, { command_status: ESME_RINVCMDID }));
    }
  }

  #request(
    command: 'bind_transceiver' | 'enquire_link' | 'unbind',
    fields: Readonly<Record<string, string | number>>,
    done: OnResponse,
  ): void {
    this.#write(encodePdu(command, this.#begin(`${command}_resp`, done), fields));
  }

  #begin(response: AwaitedResponse, done: OnResponse): number {
    return this.#requests.begin(response, this.#received, done);
  }

  #write(pdu: Buffer): void {
    if (!this.#isWritable) return;
    this.#writer.add(pdu);
    this.#sendSoon();
  }

  get #isWritable(): boolean {
    return this.#socket !== null && this.#state !== 'closing' && this.#state !== 'ended';
  }

  /** One call of the system for all PDUs of a callback: a call for each took a tenth of the thread under load. */
  #sendSoon(): void {
    if (!this.#isSending) {
      this.#isSending = true;
      process.nextTick(() => this.#send());
    }
    if ((this.#socket?.writableLength ?? 0) + this.#writer.length <= UNREAD_BYTES_MAX) return;
    // Not before the caller knows the number of its request.
    queueMicrotask(() => this.#close('The SMSC does not read what it is sent'));
  }

  #send(): void {
    this.#isSending = false;
    if (this.#isWritable && this.#writer.length > 0) this.#socket?.write(this.#writer.take());
  }

  #enquireLater(): void {
    this.#cancelEnquiry();
    this.#cancelEnquiry = this.#options.timeouts(this.#options.enquireLinkMs)(() => this.#enquire());
  }

  #enquire(): void {
    if (this.#isEnquiring || this.#state !== 'bound') return;
    this.#isEnquiring = true;
    this.#cancelEnquiry();
    this.#cancelEnquiry = this.#options.timeouts(ENQUIRE_LINK_TIMEOUT_MS)(() =>
      this.#close('The SMSC does not respond'),
    );
    this.#request('enquire_link', {}, (response) => {
      this.#isEnquiring = false;
      if (response !== null) this.#enquireLater();
    });
  }

  /** What was written still goes out, if the SMSC reads it soon. */
  #closeSoon(): void {
    const socket = this.#socket;
    if (socket === null || socket.destroyed) return;
    this.#send();
    this.#destroySoon(socket);
  }

  #destroySoon(socket: Socket): void {
    socket.destroySoon();
    const cancel = this.#options.timeouts(LAST_RESPONSE_TIMEOUT_MS)(() => socket.destroy());
    socket.once('close', cancel);
  }

  /**
   * The connection is over. All that came is read before the session ends: a response among it is the only word of a message that
   * the SMSC took. A receipt among it is handed on as well, although nobody can respond to it.
   */
  #close(reason: string): void {
    if (this.isOver || this.#state === 'closing') return;
    this.#state = 'closing';
    this.#closingReason = reason;
    this.#cancelEnquiry();
    // A socket that is destroyed hands on nothing of what it held while it was paused.
    const rest: Buffer | null = this.#socket?.read() ?? null;
    if (rest !== null) this.#framer.push(rest);
    if (!this.#isPaused) this.#read();
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelEnquiry();
    const socket = this.#socket;
    if (socket?.writableEnded === false) socket.destroy();
    this.#resolveEnded(reason);
    this.#requests.end();
    this.#options.onChange();
  }
}
