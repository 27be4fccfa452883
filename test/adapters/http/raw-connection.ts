import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection that sends exactly the given bytes, for requests that no client library would send. */
export class RawConnection {
  readonly #socket: Socket;
  #received = '';
  #wasReset = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
    });
    // A server that closes over unread bytes resets the connection; what came before still counts.
    socket.on('error', () => {
      this.#wasReset = true;
    });
  }

  static async open(port: number, from = '127.0.0.1'): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** Everything that was received so far. */
  get received(): string {
    return this.#received;
  }

  write(text: string | Buffer): boolean {
    return this.#socket.write(text);
  }

  /** Resolves when what was written has gone out. */
  async drained(): Promise<void> {
    await this.#next('drain');
  }

  /** Whether the server closed the connection while it was written to. */
  get wasReset(): boolean {
    return this.#wasReset;
  }

  get closed(): boolean {
    return this.#socket.destroyed;
  }

  /** Resolves with everything received once `pattern` is in it; rejects when the connection closes before. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.#socket.destroyed) throw new Error(`closed before ${pattern}: ${this.#received}`);
      await this.#next('data');
    }
    return this.#received;
  }

  /** Resolves with everything received when the server has closed the connection. */
  async untilClosed(): Promise<string> {
    if (!this.#socket.destroyed) await this.#next('close');
    return this.#received;
  }

  /** Reads nothing more until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Sends nothing more, and reads on. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes in a way that fails what the server writes. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Resolves at the next such event, or when the connection closes; an error is followed by the close. */
  #next(event: 'data' | 'drain' | 'close'): Promise<void> {
    const { promise, resolve } = promiseWithResolver();
    this.#socket.once(event, resolve).once('close', resolve);
    return promise.finally(() => this.#socket.off(event, resolve).off('close', resolve));
  }
}

function promiseWithResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
