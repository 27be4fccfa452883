import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestMaker, type ResponseListener, ResponseReader } from '../../support/http-load.ts';

/** A client whose server went away tries again after this time. */
const RECONNECT_MS = 25;

/** A request without a response is given up after this time: something hangs. */
const RESPONSE_TIMEOUT_MS = 60_000;

export interface SteadyLoadOptions {
  /** Where to send to at the moment. */
  readonly ports: () => readonly number[];
  readonly connections: number;
  /** Between a response and the next request of a client; none when absent. */
  readonly delayMs?: number;
  readonly makeRequest: RequestMaker;
  readonly onResponse: ResponseListener;
}

/**
 * Clients that send one request after the other until they are stopped, whatever happens to the servers. A client
 * whose connection broke connects to the next of `ports()`. A request that lost its connection counts as cut off:
 * the service may or may not have accepted it.
 */
export class SteadyLoad {
  /** Slowest response so far, in milliseconds. */
  slowestMs = 0;
  cutOff = 0;
  readonly #options: SteadyLoadOptions;
  #isStopping = false;
  #clients: readonly Promise<void>[] = [];
  #connections = 0;

  constructor(options: SteadyLoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStopping = false;
    this.#clients = Array.from({ length: this.#options.connections }, () => this.#client());
  }

  /** Resolves when every request in flight has its response or has lost its connection. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#clients);
  }

  async #client(): Promise<void> {
    while (!this.#isStopping) {
      const ports = this.#options.ports();
      this.#connections += 1;
      const port = ports[this.#connections % ports.length];
      if (port !== undefined) await this.#converse(port);
      if (!this.#isStopping) await sleep(RECONNECT_MS);
    }
  }

  /** Resolves when the connection is over. */
  #converse(port: number): Promise<void> {
    const { delayMs = 0, makeRequest, onResponse } = this.#options;
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      const reader = new ResponseReader();
      let sentAt: number | null = null;
      const next = (): void => {
        if (this.#isStopping || socket.destroyed) {
          socket.destroy();
          return;
        }
        sentAt = performance.now();
        socket.write(makeRequest());
      };
      socket.setNoDelay(true);
      socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy());
      socket.on('connect', next);
      socket.on('data', (chunk) => {
        const response = reader.read(chunk);
        if (response === null) return;
        if (sentAt !== null) this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
        sentAt = null;
        onResponse(response.body, response.status);
        // A server that is about to close the connection would not read another request.
        if (/^connection: close/im.test(response.head)) socket.destroy();
        else if (delayMs === 0) next();
        else setTimeout(next, delayMs);
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        if (sentAt !== null) this.cutOff += 1;
        resolve();
      });
    });
  }
}
