import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from './metrics.ts';
import { SharedReading } from './shared-reading.ts';

const PATH = '/metrics';

/** A scrape is one short request without a body. */
const REQUEST_TIMEOUT_MS = 5_000;
const CHECKING_INTERVAL_MS = 1_000;
const CONNECTIONS_MAX = 20;
/** What is pipelined behind a scrape gets 503, and the connection closes. */
const REQUESTS_PER_CONNECTION_MAX = 1;
/** A scrape that takes longer gets 503, in milliseconds. */
const SCRAPE_TIMEOUT_MS = 5_000;
/** How many times as long as writing the metrics took the next writing waits: all of them take a fifth of the time. */
const PAUSE_FACTOR = 4;

/**
 * Serves the metrics on a listener of their own, so that they are never public by mistake. Scrapes at the same time share one
 * text: hundreds of kilobytes, written on the event loop.
 */
export class MetricsServer {
  readonly #server: Server;
  #pausesUntil = 0;

  /** `refresh` sets what is read at a scrape; it never rejects. */
  constructor({ registry }: Pick<Metrics, 'registry'>, refresh: () => Promise<void>) {
    const text = new SharedReading({
      read: async () => {
        await sleep(Math.max(0, this.#pausesUntil - performance.now()));
        await refresh();
        return await this.#timed(() => registry.metrics());
      },
      freshMs: 0,
      timeoutMs: SCRAPE_TIMEOUT_MS,
    });
    const scrape = async (response: ServerResponse): Promise<void> => {
      const body = await text.get();
      const headers = { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' };
      if (body === null) response.writeHead(503).end();
      else response.writeHead(200, headers).end(body);
    };
    const timeouts = {
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Connections that send nothing would keep the others out for 30 s.
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    };
    this.#server = createServer(timeouts, (request, response) => {
      if (!isScrape(request)) {
        response
          .writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' })
          .end('Only GET /metrics is here\n');
        return;
      }
      scrape(response).catch(() => response.destroy());
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION_MAX;
  }

  /** Resolves with the port; rejects when the address is taken or not of this machine. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** What writes the metrics, and how long the next one waits behind it. */
  async #timed<Result>(write: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    const result = await write();
    const now = performance.now();
    this.#pausesUntil = now + PAUSE_FACTOR * (now - startedAt);
    return result;
  }

  /** Resolves when no connection is left. May be called twice, and without `listen`. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

function isScrape({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && url.split('?', 1)[0] === PATH;
}
