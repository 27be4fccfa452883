import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Metrics } from './metrics.ts';

const PATH = '/metrics';

/** A scrape is one short request without a body. */
const REQUEST_TIMEOUT_MS = 5_000;
const CHECKING_INTERVAL_MS = 1_000;
const CONNECTIONS_MAX = 20;

/** Serves the metrics on a listener of their own, so that they are never public by mistake. */
export class MetricsServer {
  readonly #server: Server;

  /** `refresh` sets what is read at a scrape; it never rejects. */
  constructor({ registry }: Pick<Metrics, 'registry'>, refresh: () => Promise<void>) {
    const scrape = async (response: ServerResponse): Promise<void> => {
      await refresh();
      const body = await registry.metrics();
      response
        .writeHead(200, { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' })
        .end(body);
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
