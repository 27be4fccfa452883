import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { HandshakeFailed } from './connection-errors.ts';

/** No more than this is read of a handshake: four certificates with many names are half of it. */
export const HANDSHAKE_BYTES_MAX = 16_384;

/**
 * A TCP connection to a receiver, as TLS reads and writes it, whose handshake is watched: its bytes are limited, and what TLS
 * computes is run in the time of its project (see `HandshakeTime`). TLS computes within `push`.
 */
export class WatchedStream extends Duplex {
  readonly #socket: Socket;
  readonly #spendTime: (compute: () => void) => void;
  #isHandshake = true;
  #read = 0;
  /** A computation of the handshake waits. */
  #isWaiting = false;

  constructor(socket: Socket, spendTime: (compute: () => void) => void) {
    super();
    this.#socket = socket;
    this.#spendTime = spendTime;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  endHandshake(): void {
    this.#isHandshake = false;
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
    if (this.#isHandshake) this.#receiveHandshake(chunk);
    else if (!this.push(chunk)) this.#socket.pause();
  }

  #receiveHandshake(chunk: Buffer): void {
    this.#read += chunk.length;
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
}
