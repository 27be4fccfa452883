import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Metrics } from '../../../src/adapters/prometheus/metrics.ts';
import { MetricsServer } from '../../../src/adapters/prometheus/metrics-server.ts';
import { until } from '../../support/until.ts';

const LOOPBACK = '127.0.0.1';

let writings: number;
/** How long a writing keeps the event loop busy, and when each began and ended. */
let writingMs: number;
let spans: { readonly beganAt: number; readonly endedAt: number }[];
/** How many the server has begun to serve. */
let requests: number;
/** Ends the writings of the metrics that are held. */
let release: () => void;
let released: Promise<void>;
let server: MetricsServer;
let port: number;

beforeEach(async () => {
  writings = 0;
  writingMs = 0;
  spans = [];
  requests = 0;
  released = new Promise((resolve) => {
    release = resolve;
  });
  const registry = {
    contentType: 'text/plain',
    async metrics() {
      writings += 1;
      await released;
      const beganAt = performance.now();
      while (performance.now() - beganAt < writingMs);
      spans.push({ beganAt, endedAt: performance.now() });
      return 'up 1\n';
    },
  } as unknown as Metrics['registry'];
  server = new MetricsServer({ registry }, async () => {});
  port = await server.listen(0, LOOPBACK);
  subscribe('http.server.request.start', onRequest);
});

afterEach(() => {
  unsubscribe('http.server.request.start', onRequest);
  return server.close();
});

const onRequest = () => {
  requests += 1;
};

const scrape = async () => {
  const reply = await fetch(`http://${LOOPBACK}:${port}/metrics`);
  return `${reply.status} ${await reply.text()}`;
};

it('scrapes at the same time share one text, and a later one has a new one', async () => {
  const scrapes = Array.from({ length: 10 }, scrape);
  await until(() => requests === 10);
  release();
  expect(new Set(await Promise.all(scrapes))).toEqual(new Set(['200 up 1\n']));
  expect(writings).toBe(1);
  expect(await scrape()).toBe('200 up 1\n');
  expect(writings).toBe(2);
});

it('of scrapes that are pipelined the first is replied to, and the connection closes', async () => {
  release();
  const socket = connect(port, LOOPBACK);
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  socket.on('error', () => {});
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500));
  await once(socket, 'close');
  expect(received.split('HTTP/1.1 200 OK')).toHaveLength(2);
  expect(writings).toBe(1);
});

it('writing the metrics takes a fifth of the time, however often they are asked for', async () => {
  writingMs = 50;
  release();
  await scrape();
  await scrape();
  const [first, second] = spans;
  if (first === undefined || second === undefined) throw new Error('Both were written');
  expect(second.beganAt - first.endedAt).toBeGreaterThan(4 * writingMs - 5);
});
