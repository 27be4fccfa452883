import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { HandshakeFailed, ResponseTooLong } from './connection-errors.ts';
import { TlsRecords } from './tls-records.ts';
import type { ProjectTime } from './tls-time.ts';

/** No more than this is read of a handshake: four certificates with many names are half of it. */
export const HANDSHAKE_BYTES_MAX = 16_384;
/** No more than this is read of one response, whatever it consists of: what a receiver says means little to us. */
const RESPONSE_BYTES_MAX = 65_536;
/** A response ends between half of the limit and all of it. */
const CHECK_EVERY_BYTES = RESPONSE_BYTES_MAX / 2;
/** TLS takes no more at a time: so much may be 250 messages of its own, some milliseconds. */
const SLICE_BYTES = 1_024;
/** So much beside responses is free: headers of records, and tickets for later sessions. */
const OVERHEAD_BYTES_FREE = 512;
/** And so much of each byte of responses. */
const OVERHEAD_PART_FREE = 0.5;

/** The time of the project that a connection was opened for. */
export type ReceiverTime = Pick<ProjectTime, 'isLeft' | 'take' | 'run'>;

/**
 * A TCP connection to a receiver, as TLS reads and writes it. Whatever TLS computes takes the time of the project, but for
 * responses: a receiver can keep it busy before, between and after them. Bytes are limited as they come in: what TLS or a parser
 * skips is never seen behind them.
 */
export class ReceiverStream extends Duplex {
  readonly #socket: Socket;
  readonly #time: ReceiverTime;
  readonly #records = new TlsRecords();
  /** Null during the handshake. */
  #secured: TLSSocket | null = null;
  /** Bytes of the handshake, or of everything since. */
  #read = 0;
  /** What was read in all, and written in requests, at the last check. */
  #checkedRead = 0;
  #checkedWritten = 0;
  /** What came and is not given to TLS yet, because the project has no time. */
  #waiting: Buffer | null = null;
  #hasEnded = false;

  /** TLS computes within `push`. */
  constructor(socket: Socket, time: ReceiverTime) {
    super();
    this.#socket = socket;
    this.#time = time;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => {
      this.#hasEnded = true;
      if (this.#waiting === null) this.push(null);
    });
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  /** The handshake is over: what comes now are responses to what is written to `secured`. */
  beginResponses(secured: TLSSocket): void {
    this.#secured = secured;
    this.#read = 0;
  }

  override _read(): void {
    if (this.#waiting === null) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    const secured = this.#secured;
    this.#read += chunk.length;
    if (!this.#records.accept(chunk)) {
      (secured ?? this).destroy(new HandshakeFailed('A second handshake'));
      return;
    }
    if (secured === null) {
      if (this.#read > HANDSHAKE_BYTES_MAX) {
        this.destroy(new HandshakeFailed(`More than ${HANDSHAKE_BYTES_MAX} bytes in a handshake`));
        return;
      }
    } else {
      if (this.#isTooLong(secured)) {
        secured.destroy(new ResponseTooLong(`More than ${CHECK_EVERY_BYTES} bytes without a request`));
        return;
      }
      if (chunk.length <= SLICE_BYTES && this.#time.isLeft()) {
        this.#giveResponse(chunk, secured);
        return;
      }
    }
    this.#waiting = chunk;
    this.#socket.pause();
    this.#time.run(() => this.#giveSlice());
  }

  /** As most responses come: at once, and for nothing unless it was something else. */
  #giveResponse(chunk: Buffer, secured: TLSSocket): void {
    const startedAt = performance.now();
    const isRead = this.push(chunk);
    const free = OVERHEAD_BYTES_FREE + secured.bytesRead * (1 + OVERHEAD_PART_FREE);
    if (this.#read > free) this.#time.take(performance.now() - startedAt);
    if (!isRead) this.#socket.pause();
  }

  #giveSlice(): void {
    const waiting = this.#waiting;
    if (waiting === null || this.destroyed) return;
    // A handshake is computed when it is complete.
    const slice = this.#secured === null ? waiting : waiting.subarray(0, SLICE_BYTES);
    this.#waiting = slice.length === waiting.length ? null : waiting.subarray(slice.length);
    const isRead = this.push(slice);
    if (this.#waiting !== null) this.#time.run(() => this.#giveSlice());
    else if (this.#hasEnded) this.push(null);
    else if (isRead) this.#socket.resume();
  }

  /** Whether so much came since the last check, and no request was sent. */
  #isTooLong(secured: TLSSocket): boolean {
    if (this.#read - this.#checkedRead < CHECK_EVERY_BYTES) return false;
    const { bytesWritten } = secured;
    const isTooLong = bytesWritten === this.#checkedWritten;
    this.#checkedRead = this.#read;
    this.#checkedWritten = bytesWritten;
    return isTooLong;
  }
}
