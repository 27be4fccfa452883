import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import { onNextRound } from '../../application/concurrency/next-round.ts';
import { RoundTime } from '../../application/concurrency/round-time.ts';
import { codeOrName } from '../../application/errors/error-text.ts';
import type { Timeout } from '../../application/ports/timeout.ts';
import type { IncomingPdu } from './pdu.ts';
import { PduFramer } from './pdu-framer.ts';
import { decodePdu } from './pdu-reader.ts';
import { PduWriter, type SubmitFields } from './pdu-writer.ts';

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

/** Opens a TCP connection to an address. The socket emits `connect`, or `error`. */
export type ConnectTcp = (address: Pick<SmscAddress, 'host' | 'port'>) => Socket;
/** Opens TLS to an address. The socket emits `secureConnect`, or `error`. */
export type ConnectTls = (address: Omit<SmscAddress, 'tls'>) => TLSSocket;

export interface PduConnectionOptions {
  readonly address: SmscAddress;
  readonly connectTcp: ConnectTcp;
  readonly connectTls: ConnectTls;
  /** How long it reads PDUs in one round of the event loop, in milliseconds. */
  readonly readingMs: number;
  readonly timeouts: Timeouts;
}

/** What a connection tells its session. */
export interface PduConnectionEvents {
  readonly onPdu: (pdu: IncomingPdu) => void;
  /** The PDUs of one round of the event loop were told. */
  readonly onRead: () => void;
  /** What came is no PDU. The connection is over then. */
  readonly onInvalid: (problem: string) => void;
  /** `onPdu` has thrown. What has come behind that PDU is told, and the connection is over. */
  readonly onFault: (error: unknown) => void;
  /** The connection is over; what has come is read before `onOver`. */
  readonly onClosing: () => void;
  /** Nothing more comes. Never called after `end`. */
  readonly onOver: (reason: string) => void;
}

/** The PDUs of one connection to an SMSC, both ways. */
export class PduConnection {
  readonly #options: PduConnectionOptions;
  readonly #events: PduConnectionEvents;
  readonly #framer = new PduFramer();
  readonly #writer = new PduWriter();
  readonly #readingTime: RoundTime;
  #socket: Socket | null = null;
  /** `closing`: nothing more comes or is written, and what came is read. */
  #state: 'open' | 'closing' | 'over' = 'open';
  /** What is written is sent when the current callback has ended. */
  #isSending = false;
  /** The rest of what came is read in the next round. */
  #isPaused = false;
  /** Why it is closing. */
  #closingReason = '';

  constructor(options: PduConnectionOptions, events: PduConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#readingTime = new RoundTime(
      () => options.readingMs,
      () => performance.now(),
    );
  }

  /** Called once. */
  connect(onConnect: () => void): void {
    const { address, connectTcp, connectTls } = this.#options;
    const { tls, ...peer } = address;
    const socket = tls ? connectTls(peer) : connectTcp(peer);
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.once(tls ? 'secureConnect' : 'connect', onConnect);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.close(`The connection failed: ${codeOrName(error)}`));
    socket.on('end', () => {
      this.#destroySoon(socket);
      this.close('The SMSC closed the connection');
    });
    socket.on('close', () => this.close('The SMSC closed the connection'));
  }

  /** Writes a PDU that is encoded already; nothing once the connection is over. */
  write(pdu: Buffer): void {
    if (!this.#isWritable) return;
    this.#writer.add(pdu);
    this.#sendSoon();
  }

  /** Writes a `submit_sm`; nothing once the connection is over. */
  submit(sequence: number, fields: SubmitFields): void {
    if (!this.#isWritable) return;
    this.#writer.submit(sequence, fields);
    this.#sendSoon();
  }

  /** Writes a `deliver_sm_resp`; nothing once the connection is over. */
  respondToDelivery(sequence: number, status: number): void {
    if (!this.#isWritable) return;
    this.#writer.deliverResponse(sequence, status);
    this.#sendSoon();
  }

  /**
   * The connection is over. All that came is read before the session ends: a response among it is the only word of a message that
   * the SMSC took. A receipt among it is handed on as well, although nobody can respond to it.
   */
  close(reason: string): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#closingReason = reason;
    this.#events.onClosing();
    // A socket that is destroyed hands on nothing of what it held while it was paused.
    const rest: Buffer | null = this.#socket?.read() ?? null;
    if (rest !== null) this.#framer.push(rest);
    if (!this.#isPaused) this.#read();
  }

  /** What was written still goes out, if the SMSC reads it soon, also when `end` follows. */
  closeSoon(): void {
    const socket = this.#socket;
    if (socket === null || socket.destroyed) return;
    this.#send();
    this.#destroySoon(socket);
  }

  /** Ends it at once, but for what `closeSoon` lets out. */
  end(): void {
    this.#state = 'over';
    const socket = this.#socket;
    if (socket?.writableEnded === false) socket.destroy();
  }

  #receive(chunk: Buffer): void {
    // The socket may still be open, for the response to an unbind.
    if (this.#state !== 'open') return;
    this.#framer.push(chunk);
    if (!this.#isPaused) this.#read();
  }

  #read(): void {
    for (let octets = this.#nextPdu(); octets !== null; octets = this.#nextPdu()) {
      try {
        this.#events.onPdu(decodePdu(octets));
      } catch (error) {
        this.#events.onFault(error);
        this.close('A PDU could not be worked on');
      }
    }
    this.#events.onRead();
    if (this.#state === 'closing' && !this.#isPaused) this.#over(this.#closingReason);
  }

  /** Null when the connection is over, when no PDU is whole, and when this round has had its time. */
  #nextPdu(): Buffer | null {
    if (this.#state === 'over') return null;
    if (this.#readingTime.isLeft()) return this.#cutPdu();
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

  /** Null when no PDU is whole, and when what came is none: the connection is over then. */
  #cutPdu(): Buffer | null {
    try {
      return this.#framer.next();
    } catch (error) {
      this.#events.onInvalid('length');
      this.#over(error instanceof Error ? error.message : 'The SMSC sent what is no PDU');
      return null;
    }
  }

  #over(reason: string): void {
    if (this.#state === 'over') return;
    this.end();
    this.#events.onOver(reason);
  }

  get #isWritable(): boolean {
    return this.#socket !== null && this.#state === 'open';
  }

  /** One call of the system for all PDUs of a callback: a call for each took a tenth of the thread under load. */
  #sendSoon(): void {
    if (!this.#isSending) {
      this.#isSending = true;
      process.nextTick(() => this.#send());
    }
    if ((this.#socket?.writableLength ?? 0) + this.#writer.length <= UNREAD_BYTES_MAX) return;
    // Not before the caller knows the number of its request.
    queueMicrotask(() => this.close('The SMSC does not read what it is sent'));
  }

  #send(): void {
    this.#isSending = false;
    if (this.#isWritable && this.#writer.length > 0) this.#socket?.write(this.#writer.take());
  }

  #destroySoon(socket: Socket): void {
    socket.destroySoon();
    const cancel = this.#options.timeouts(LAST_RESPONSE_TIMEOUT_MS)(() => socket.destroy());
    socket.once('close', cancel);
  }
}
