import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { file, html, text } from '../../../../src/adapters/http/replies/http-reply.ts';
import { anyone } from '../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';
import type { RouteFamily } from '../../../../src/adapters/http/routing/route-declaration.ts';
import { HttpWorld } from '../http-world.ts';

const MEGABYTE = 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
/** What the sockets and streams of one connection hold at most, on any system. */
const BUFFERED_BYTES_MAX = 16 * MEGABYTE;

/** A download that counts the bytes it was asked for. */
class CountingSource extends Readable {
  produced = 0;
  readonly #bytes: number;
  readonly #fault: Error | null;

  constructor(bytes: number, fault: Error | null = null) {
    super();
    this.#bytes = bytes;
    this.#fault = fault;
  }

  override _read(): void {
    if (this.produced >= this.#bytes) {
      if (this.#fault === null) this.push(null);
      else this.destroy(this.#fault);
      return;
    }
    this.produced += CHUNK.length;
    this.push(CHUNK);
  }
}

/** A file that is found missing only while it is opened, after the handler has replied. */
class LostSource extends Readable {
  override _construct(done: (error: Error) => void): void {
    setImmediate(() => done(Object.assign(new Error('no such file'), { code: 'ENOENT' })));
  }
}

let source: CountingSource;
let lost: LostSource;
let fileName: string;
let world: HttpWorld;

const challenge = route({
  method: 'get',
  path: '/callback',
  operationId: 'challenge',
  summary: 'Repeat the challenge of a provider',
  description: 'For a test',
  admission: anyone,
  query: z.object({ 'hub.challenge': z.string() }),
  ok: { description: 'The challenge', kind: 'text' },
  rejections: { 400: { description: 'There is none' } },
  handle: async ({ query }) => text(query['hub.challenge']),
});
const page = route({
  method: 'get',
  path: '/page',
  operationId: 'page',
  summary: 'Get a page',
  description: 'For a test',
  admission: anyone,
  ok: { description: 'The page', kind: 'html' },
  handle: async () => html('<!doctype html><title>Barîd</title>'),
});
const download = route({
  method: 'get',
  path: '/download',
  operationId: 'download',
  summary: 'Download a report',
  description: 'For a test',
  admission: anyone,
  ok: { description: 'The report', kind: 'file', mediaType: 'text/csv' },
  handle: async () => file(source, 'text/csv', fileName),
});
const lostDownload = route({
  method: 'get',
  path: '/lost',
  operationId: 'lostDownload',
  summary: 'Download a report whose file is gone',
  description: 'For a test',
  admission: anyone,
  ok: { description: 'The report', kind: 'file', mediaType: 'text/csv' },
  handle: async () => {
    lost = new LostSource();
    return file(lost, 'text/csv', fileName);
  },
});
const family: RouteFamily = {
  tag: { name: 'Test', description: 'For a test' },
  envelope: usualEnvelope,
  routes: [challenge, page, download, lostDownload],
};

beforeEach(async () => {
  source = new CountingSource(100 * MEGABYTE);
  fileName = 'report.csv';

  world = await new HttpWorld({ families: [family] }).open();
});
afterEach(() => world.close());

/** A download whose body is not read yet. */
async function startDownload(): Promise<IncomingMessage> {
  const request = httpRequest({ port: world.port, host: '127.0.0.1', path: '/download', agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Resolves when the source has not been asked for more during many rounds of the event loop. */
async function untilStalled(): Promise<void> {
  for (let before = -1; before !== source.produced; ) {
    before = source.produced;
    for (let round = 0; round < 500; round += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

it('replies with plain text to a challenge in the query', async () => {
  const reply = await world.call('GET', '/callback?hub.challenge=115%2020', { keyless: true });
  expect(reply.status).toBe(200);
  expect(reply.text).toBe('115 20');
  expect(reply.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '6',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': 'request-1',
  });
});

it('validates the query of a route that anyone may use', async () => {
  const reply = await world.call('GET', '/callback', { keyless: true });
  expect(reply.status).toBe(400);
  expect(reply.headers['x-error-code']).toBe('validation-failed');
});

it('replies with a page in UTF-8', async () => {
  const reply = await world.call('GET', '/page');
  expect(reply.text).toBe('<!doctype html><title>Barîd</title>');
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(reply.headers['content-length']).toBe('36');
});

it('streams a file of 100 MB as fast as its reader takes it', async () => {
  const response = await startDownload();
  expect(response.headers).toMatchObject({
    'content-type': 'text/csv',
    'content-disposition': 'attachment; filename="report.csv"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  await untilStalled();
  expect(source.produced).toBeLessThan(BUFFERED_BYTES_MAX);
  let received = 0;
  let ahead = 0;
  for await (const chunk of response) {
    received += chunk.length;
    ahead = Math.max(ahead, source.produced - received);
  }
  expect(received).toBe(100 * MEGABYTE);
  expect(ahead).toBeLessThan(BUFFERED_BYTES_MAX);
});

it('destroys the source of a file when the client leaves midway', async () => {
  const response = await startDownload();
  const closed = new Promise((resolve) => source.once('close', resolve));
  response.destroy();
  await closed;
  expect(source.produced).toBeLessThan(BUFFERED_BYTES_MAX);
  expect(world.logger.entriesBesideRequests).toEqual([]);
});

it('cuts the connection and logs a fault when the source of a file fails midway', async () => {
  source = new CountingSource(MEGABYTE, new Error('the disk is gone'));
  const response = await startDownload();
  const read = async () => {
    for await (const chunk of response) expect(chunk.length).toBeGreaterThan(0);
  };
  await expect(read()).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(world.logger.entriesBesideRequests).toEqual([
    { level: 'error', event: 'request_failed', fields: expect.objectContaining({ route: '/download' }) },
  ]);
});

it('replies to HEAD for a file without reading the file', async () => {
  const reply = await world.call('HEAD', '/download');
  expect(reply.status).toBe(200);
  expect(reply.headers['content-disposition']).toBe('attachment; filename="report.csv"');
  expect(source.produced).toBe(0);
  expect(source.destroyed).toBe(true);
});

it('survives HEAD for a file that turns out not to exist', async () => {
  const reply = await world.call('HEAD', '/lost');
  if (!lost.closed) await new Promise((resolve) => lost.once('close', resolve));
  expect(reply.status).toBe(200);
  expect(lost.errored).toMatchObject({ code: 'ENOENT' });
});

it('sends no character in a file name that a header could misread', async () => {
  source = new CountingSource(0);
  fileName = 'a"b\r\nc/ü.csv';
  const reply = await world.call('GET', '/download');
  expect(reply.headers['content-disposition']).toBe('attachment; filename="a_b__c__.csv"');
});
