import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestMaker, ResponseReader } from '../../test/support/http-load.ts';
import { percentile } from '../../test/support/percentile.ts';

/** More than any service that keeps up needs. */
const CONNECTIONS_MAX = 1_000;

interface OfferOptions {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly makeRequest: RequestMaker;
}

/** Percentiles of the latency in milliseconds, from the instant a request was due to its whole response. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Responses with another status than 200. */
  readonly failed: number;
}

/** Offers requests by the clock, whether or not earlier ones were replied to, and waits for every response. */
export async function offer({ port, perSecond, seconds, makeRequest }: OfferOptions): Promise<Latencies> {
  const pool = new ConnectionPool(port);
  const total = Math.round(perSecond * seconds);
  const startedAt = performance.now();
  const dueAt = (index: number): number => startedAt + (index * 1_000) / perSecond;
  const responses: Promise<{ readonly latencyMs: number; readonly status: number }>[] = [];
  while (responses.length < total) {
    while (responses.length < total && dueAt(responses.length) <= performance.now()) {
      const at = dueAt(responses.length);
      responses.push(
        pool.request(makeRequest()).then(({ status }) => ({ latencyMs: performance.now() - at, status })),
      );
    }
    await sleep(1);
  }
  const all = await Promise.all(responses);
  pool.close();
  const latencies = all.map(({ latencyMs }) => latencyMs);
  return {
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    p999: percentile(latencies, 0.999),
    failed: all.filter(({ status }) => status !== 200).length,
  };
}

/** Keep-alive connections with one request each at a time; a request that finds none free waits for one. */
class ConnectionPool {
  readonly #port: number;
  readonly #free: Connection[] = [];
  readonly #open: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  async request(bytes: Buffer): Promise<{ readonly status: number }> {
    const connection = await this.#take();
    const response = await connection.request(bytes);
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection);
    return response;
  }

  close(): void {
    for (const connection of this.#open) connection.close();
  }

  async #take(): Promise<Connection> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#open.length >= CONNECTIONS_MAX) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = new Connection(this.#port);
    this.#open.push(connection);
    return connection;
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #reader = new ResponseReader();
  #waiting: { resolve(response: { readonly status: number }): void; reject(error: Error): void } | null =
    null;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk) => {
      const response = this.#reader.read(chunk);
      if (response !== null) this.#waiting?.resolve(response);
    });
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('The connection was closed')));
  }

  request(bytes: Buffer): Promise<{ readonly status: number }> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#socket.end();
  }
}
