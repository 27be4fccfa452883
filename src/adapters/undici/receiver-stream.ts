import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { HandshakeFailed, ResponseTooLong } from './connection-errors.ts';

/** No more than this is read of a handshake: four certificates with many names are half of it. */
export const HANDSHAKE_BYTES_MAX = 16_384;
/** No more than this is read of one response, whatever it consists of: what a receiver says means little to us. */
const RESPONSE_BYTES_MAX = 65_536;
const CHECK_EVERY_BYTES = RESPONSE_BYTES_MAX / 2;

/**
 * A TCP connection to a receiver, as TLS reads and writes it. It limits what the receiver may send, in bytes as they come in:
 * what TLS or a parser skips is never seen behind them. A response ends between half of `RESPONSE_BYTES_MAX` and all of it.
 */
export class ReceiverStream extends Duplex {
  readonly #socket: Socket;
  readonly #spendTime: (compute: () => void) => void;
  /** Null during the handshake. */
  #secured: TLSSocket | null = null;
  /** Bytes since the last check. */
  #read = 0;
  /** What was sent in requests until the last check. */
  #written = 0;
  /** A computation of the handshake waits. */
  #isWaiting = false;

  /** TLS computes within `push`: during the handshake, `spendTime` runs it. */
  constructor(socket: Socket, spendTime: (compute: () => void) => void) {
    super();
    this.#socket = socket;
    this.#spendTime = spendTime;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  /** The handshake is over: what comes now are responses to what is written to `secured`. */
  beginResponses(secured: TLSSocket): void {
    this.#secured = secured;
    this.#read = 0;
  }

  override _read(): void {
    if (!this.#isWaiting) this.#socket.resume();
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
    this.#read += chunk.length;
    if (this.#secured === null) this.#receiveHandshake(chunk);
    else this.#receiveResponse(chunk, this.#secured);
  }

  #receiveHandshake(chunk: Buffer): void {
    if (this.#read > HANDSHAKE_BYTES_MAX) {
      this.destroy(new HandshakeFailed(`More than ${HANDSHAKE_BYTES_MAX} bytes in a handshake`));
      return;
    }
    this.#isWaiting = true;
    this.#socket.pause();
    this.#spendTime(() => {
      this.#isWaiting = false;
      if (!this.destroyed && this.push(chunk)) this.#socket.resume();
    });
  }

  #receiveResponse(chunk: Buffer, secured: TLSSocket): void {
    if (this.#read >= CHECK_EVERY_BYTES) {
      const { bytesWritten } = secured;
      if (bytesWritten === this.#written) {
        secured.destroy(new ResponseTooLong(`More than ${CHECK_EVERY_BYTES} bytes without a request`));
        return;
      }
      this.#read = 0;
      this.#written = bytesWritten;
    }
    if (!this.push(chunk)) this.#socket.pause();
  }
}
