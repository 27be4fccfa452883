import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A client whose server went away tries again after this time. */
const RECONNECT_MS = 25;

/** A request without an answer is given up after this time: something hangs. */
const ANSWER_TIMEOUT_MS = 60_000;

/**
 * Clients that send one request after the other until they are told to stop, whatever happens to the servers:
 * a broken connection is made again, at the next of `ports()`. What breaks before its answer counts as
 * unanswered: it may or may not have been accepted.
 */
export class SteadyLoad {
  /** Slowest answer so far, in milliseconds. */
  slowestMs = 0;
  unanswered = 0;
  #options;
  #isStopping = false;
  #clients = [];
  #started = 0;

  /**
   * @param {object} options
   * @param {() => readonly number[]} options.ports where to send to at the moment
   * @param {number} options.connections
   * @param {number} [options.pauseMs] between an answer and the next request of a client
   * @param {() => Buffer} options.makeRequest a whole request
   * @param {(body: string, status: number) => void} options.onAnswer
   */
  constructor(options) {
    this.#options = { pauseMs: 0, ...options };
  }

  start() {
    this.#isStopping = false;
    this.#clients = Array.from({ length: this.#options.connections }, () => this.#client());
  }

  /** Resolves when every request under way has its answer or has lost its connection. */
  async stop() {
    this.#isStopping = true;
    await Promise.all(this.#clients);
  }

  async #client() {
    while (!this.#isStopping) {
      const ports = this.#options.ports();
      this.#started += 1;
      const port = ports[this.#started % ports.length];
      if (port !== undefined) await this.#converse(port);
      if (!this.#isStopping) await sleep(RECONNECT_MS);
    }
  }

  /** Resolves when the connection is over. */
  #converse(port) {
    const { makeRequest, onAnswer, pauseMs } = this.#options;
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let sentAt = null;
      let pending = '';
      const next = () => {
        if (this.#isStopping || socket.destroyed) return socket.destroy();
        sentAt = performance.now();
        socket.write(makeRequest());
      };
      socket.setNoDelay(true);
      socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
      socket.on('connect', next);
      socket.on('data', (chunk) => {
        pending += chunk.toString('latin1');
        const head = pending.indexOf('\r\n\r\n');
        if (head === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0);
        if (pending.length < head + 4 + length) return;
        this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
        sentAt = null;
        const answer = pending;
        pending = '';
        onAnswer(answer.slice(head + 4), Number(answer.slice(9, 12)));
        // A server that says goodbye would not read another request.
        if (/^connection: close/im.test(answer.slice(0, head))) return socket.destroy();
        if (pauseMs === 0) next();
        else setTimeout(next, pauseMs);
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        if (sentAt !== null) this.unanswered += 1;
        resolve();
      });
    });
  }
}
