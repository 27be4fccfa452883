import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import type { TLSSocket } from 'node:tls';
import { HandshakeFailed, NothingRead, ResponseTooEarly, ResponseTooLong } from '../connection-errors.ts';
import { HeaderLines } from '../header-lines.ts';
import type { PeerTime } from './peer-time.ts';
import type { PeerWork } from './peer-work.ts';
import { TlsRecords } from './tls-records.ts';

/** No more than this is read of a handshake: four certificates with many names are half of it. */
export const HANDSHAKE_BYTES_MAX = 16_384;
/** No more than this is read of one response of a receiver, whatever it consists of: what it says means little to us. */
export const RESPONSE_BYTES_MAX = 65_536;
/** No more than this is read while the peer reads nothing of what was written: TLS may respond to each message, in memory. */
export const READ_DURING_WRITE_BYTES_MAX = 1_048_576;
/** The most bytes of a response that TLS takes at a time. They may be 250 messages of TLS, which take some milliseconds. */
const SLICE_BYTES = 1_024;
/** A handshake that takes longer is a debt. An honest one takes a fifth of it, on a slow machine a half. */
export const HANDSHAKE_FREE_MS = 10;
/** A response that takes longer is a debt. An honest one takes a tenth of it, thousands of header lines three times as long. */
export const RESPONSE_FREE_MS = 3;

/** What comes behind the handshake, and how it is limited. */
export interface PeerLimits {
  /** Bytes that are read without a request between them, as they come in. */
  readonly bytesMax: () => number;
  /** What a response may take in milliseconds before the rest is a debt; null: all of it uses the free time of the owner. */
  readonly freeMs: () => number | null;
  /** Whether the parser of HTTP is run, and its header lines counted, within the time that is measured. */
  readonly parses: boolean;
}

/** Of responses to webhooks. */
export const RECEIVER_LIMITS: PeerLimits = {
  bytesMax: () => RESPONSE_BYTES_MAX,
  freeMs: () => RESPONSE_FREE_MS,
  parses: true,
};

/**
 * A TCP connection to a peer, as TLS reads and writes it. A peer can keep TLS busy before, between and after responses,
 * and the parser of HTTP with thousands of header lines: so all that they compute is timed. Bytes are limited as they come in:
 * what TLS or the parser skips is never seen behind them.
 */
export class PeerStream extends Duplex implements PeerWork {
  readonly #socket: Socket;
  readonly #time: Pick<PeerTime, 'run' | 'drop'>;
  readonly #owner: string;
  readonly #limits: PeerLimits;
  readonly #records = new TlsRecords();
  /** Of the current response. */
  readonly #headerLines = new HeaderLines();
  /** Null during the handshake. */
  #secured: TLSSocket | null = null;
  /** What was written in requests when the current response began. */
  #written = 0;
  /** Bytes of the handshake, or of the current response. */
  #read = 0;
  /** Whether what was computed last belonged to the handshake. */
  #isHandshake = true;
  /** What is free and left for the same. */
  #freeMs: number | null = HANDSHAKE_FREE_MS;
  /** What came and is not given to TLS yet. */
  #waiting: Buffer | null = null;
  /** What was read since the write began that is not finished; null without one. */
  #readDuringWrite: number | null = null;
  #hasEnded = false;
  /** How the peer closed the connection, while something of it waits. */
  #closed: { readonly error: Error | null } | null = null;

  /** `owner` pays for what TLS computes within `push`. */
  constructor(socket: Socket, owner: string, time: Pick<PeerTime, 'run' | 'drop'>, limits: PeerLimits) {
    super();
    this.#socket = socket;
    this.#owner = owner;
    this.#limits = limits;
    this.#time = time;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => {
      this.#hasEnded = true;
      if (this.#waiting === null) this.push(null);
    });
    socket.once('error', (error) => this.#close(error));
    socket.once('close', () => this.#close(null));
    this.on('resume', () => {
      if (this.#waiting !== null) this.#time.run(this.#owner, this);
    });
  }

  /** The handshake is over: what comes now are responses to what is written to `secured`. */
  beginResponses(secured: TLSSocket): void {
    this.#secured = secured;
    this.#written = 0;
    this.#read = 0;
  }

  /** What a handshake takes is known when it is over. */
  get waitsForDebt(): boolean {
    return this.#secured === null || this.#freeMs === null || this.#freeMs <= 0;
  }

  /** While TLS does not read, `push` computes nothing: what it was given then would be computed later, and not be timed. */
  get isReady(): boolean {
    return this.#waiting !== null && !this.isPaused() && this.readableLength === 0;
  }

  compute(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    // A handshake is computed when it is complete.
    const slice = this.#secured === null ? waiting : waiting.subarray(0, SLICE_BYTES);
    this.#waiting = slice.length === waiting.length ? null : waiting.subarray(slice.length);
    const isRead = this.push(slice);
    if (this.#limits.parses && this.#secured !== null) this.#parse(this.#secured);
    if (this.#waiting === null) this.#end(isRead);
  }

  /** The parser would read in a later round what TLS has made of the bytes, and not be timed: it is told now. */
  #parse(secured: TLSSocket): void {
    if (secured.readableLength === 0) return;
    if (secured.bytesWritten === 0) {
      secured.destroy(new ResponseTooEarly('A response before the request'));
      return;
    }
    const read: Buffer = secured.read();
    this.#headerLines.read(read);
    secured.unshift(read);
    secured.emit('readable');
    // The parser comes first: lines of a body may be like headers, and the status before them is a result.
    const { error } = this.#headerLines;
    if (error !== null) secured.destroy(error);
  }

  spend(ms: number): number {
    const freeMs = this.#freeMs ?? ms;
    if (this.#freeMs !== null) this.#freeMs = Math.max(0, freeMs - ms);
    // What ended the handshake was a part of it.
    if (this.#isHandshake && this.#secured !== null) this.#freeMs = this.#limits.freeMs();
    this.#isHandshake = this.#secured === null;
    return Math.max(0, ms - freeMs);
  }

  override _read(): void {
    if (this.#waiting === null) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#readDuringWrite = 0;
    this.#socket.write(chunk, (error) => {
      this.#readDuringWrite = null;
      done(error);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#waiting = null;
    this.#time.drop(this.#owner, this);
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    const secured = this.#secured;
    if (secured !== null && secured.bytesWritten !== this.#written) this.#beginResponse(secured.bytesWritten);
    this.#read += chunk.length;
    if (this.#readDuringWrite !== null) this.#readDuringWrite += chunk.length;
    const failure = this.#failureAt(chunk);
    if (failure !== null) {
      (secured ?? this).destroy(failure);
      return;
    }
    this.#waiting = chunk;
    this.#time.run(this.#owner, this);
    if (this.#waiting !== null) this.#socket.pause();
  }

  #beginResponse(written: number): void {
    this.#written = written;
    this.#read = 0;
    this.#freeMs = this.#limits.freeMs();
    this.#headerLines.reset();
  }

  #failureAt(chunk: Buffer): Error | null {
    if (!this.#records.accept(chunk)) return new HandshakeFailed('A second handshake');
    if ((this.#readDuringWrite ?? 0) > READ_DURING_WRITE_BYTES_MAX)
      return new NothingRead(`More than ${READ_DURING_WRITE_BYTES_MAX} bytes, and nothing is read`);
    if (this.#secured !== null) {
      const bytesMax = this.#limits.bytesMax();
      return this.#read > bytesMax
        ? new ResponseTooLong(`More than ${bytesMax} bytes without a request`)
        : null;
    }
    return this.#read > HANDSHAKE_BYTES_MAX
      ? new HandshakeFailed(`More than ${HANDSHAKE_BYTES_MAX} bytes in a handshake`)
      : null;
  }

  /** TLS has all that came. */
  #end(isRead: boolean): void {
    if (this.#hasEnded) this.push(null);
    else if (!isRead) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
    // TLS reads the end first.
    if (this.#closed !== null) setImmediate(() => this.destroy(this.#closed?.error ?? undefined));
  }

  /** What came before the peer closed the connection is a response all the same. */
  #close(error: Error | null): void {
    const isByPeer = this.#hasEnded || error !== null;
    if (this.#secured !== null && this.#waiting !== null && isByPeer) this.#closed ??= { error };
    else this.destroy(error ?? undefined);
  }
}
