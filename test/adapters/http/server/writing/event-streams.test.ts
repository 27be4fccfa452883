import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { usualEnvelope } from '../../../../../src/adapters/http/replies/http-error.ts';
import { eventStream, type ServerSentEvent } from '../../../../../src/adapters/http/replies/http-reply.ts';
import { anyone } from '../../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../../src/adapters/http/routing/route.ts';
import type { RouteFamily } from '../../../../../src/adapters/http/routing/route-declaration.ts';
import { frameOf } from '../../../../../src/adapters/http/server/writing/event-streams.ts';
import { HttpWorld } from '../../http-world.ts';
import { RawConnection } from '../../raw-connection.ts';

const GET = 'GET /events HTTP/1.1\r\nHost: x\r\n\r\n';
const HEARTBEAT_MS = 20;
const LONG_MS = 60_000;
const MEGABYTE = 1024 * 1024;
const LARGE_DATA = 'x'.repeat(64 * 1024);

/** A source that is fed by the test, and knows whether it was ended. */
class Source {
  readonly ended: Promise<void>;
  started = 0;
  produced = 0;
  isAborted = false;
  #end = (): void => undefined;
  events: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>;

  constructor(generate: (source: Source, signal: AbortSignal) => AsyncGenerator<ServerSentEvent>) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.events = (signal) => this.#run(generate(this, signal), signal);
  }

  async *#run(events: AsyncGenerator<ServerSentEvent>, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    this.started += 1;
    signal.addEventListener('abort', () => {
      this.isAborted = true;
      this.#end();
    });
    try {
      for await (const event of events) {
        this.produced += event.data.length;
        yield event;
      }
    } finally {
      this.#end();
    }
  }
}

async function* threeEvents(): AsyncGenerator<ServerSentEvent> {
  yield { data: 'first', id: '1', event: 'progress' };
  yield { data: 'second\nline' };
  yield { data: 'third', retryMs: 5_000 };
}

/** Says nothing until it is told to stop. */
async function* silence(_source: Source, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  if (!signal.aborted) await once(signal, 'abort');
  yield { data: 'nobody reads this' };
}

async function* endless(): AsyncGenerator<ServerSentEvent> {
  for (;;) yield { data: LARGE_DATA };
}

let source: Source;
let world: HttpWorld;
let connection: RawConnection;
/** What the handler waits for before it replies. */
let beforeReply: (request: IncomingMessage) => Promise<unknown> | undefined;

const events = route({
  method: 'get',
  path: '/events',
  operationId: 'watchEvents',
  summary: 'Watch what happens',
  description: 'For a test',
  admission: anyone,
  ok: { description: 'What happens', kind: 'events' },
  handle: async ({ request }) => {
    await beforeReply(request);
    return eventStream(source.events);
  },
});
const family: RouteFamily = {
  tag: { name: 'Test', description: 'For a test' },
  envelope: usualEnvelope,
  routes: [events],
};

async function open(
  generate: ConstructorParameters<typeof Source>[0],
  eventHeartbeatMs = LONG_MS,
  requestsPerAddressMax = 10,
) {
  source = new Source(generate);
  world = await new HttpWorld({
    families: [family],
    limits: { eventHeartbeatMs, requestsPerAddressMax, requestsMax: 1 },
  }).open();
  connection = await RawConnection.open(world.port);
  connection.write(GET);
}

beforeEach(() => {
  source = new Source(threeEvents);
  beforeReply = () => undefined;
});
afterEach(async () => {
  connection.destroy();
  await world.close();
});

it('streams events in the format of the standard, and ends when the source does', async () => {
  await open(threeEvents);
  const received = await connection.until(/\r\n0\r\n\r\n$/);
  expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(received).toContain('Content-Type: text/event-stream; charset=utf-8\r\n');
  expect(received).toContain('Cache-Control: no-store\r\n');
  expect(received).toContain('X-Content-Type-Options: nosniff\r\n');
  expect(received).toContain('X-Request-Id: request-1\r\n');
  expect(received).toContain('id: 1\nevent: progress\ndata: first\n\n');
  expect(received).toContain('data: second\ndata: line\n\n');
  expect(received).toContain('retry: 5000\ndata: third\n\n');
});

it('sends the head at once, before there is an event', async () => {
  await open(silence);
  expect(await connection.until(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(source.produced).toBe(0);
});

it('sends comments while the source is silent', async () => {
  await open(silence, HEARTBEAT_MS);
  await connection.until(/: heartbeat\n\n[\s\S]*: heartbeat\n\n/);
  expect(source.isAborted).toBe(false);
});

it('a stream counts for its address until it has ended, and takes no place of the requests that are served', async () => {
  await open(silence, LONG_MS, 1);
  await connection.until(/\r\n\r\n/);
  const rejected = await RawConnection.open(world.port);
  rejected.write(GET);
  expect(await rejected.until(/\r\n\r\n/)).toContain('503 Service Unavailable');
  rejected.destroy();
  const first = source;
  source = new Source(silence);
  const other = await RawConnection.open(world.port, '127.0.0.2');
  other.write(GET);
  expect(await other.until(/\r\n\r\n/)).toContain('200 OK');
  other.destroy();
  connection.destroy();
  await first.ended;
  connection = await RawConnection.open(world.port);
  source = new Source(threeEvents);
  connection.write(GET);
  expect(await connection.until(/\r\n\r\n/)).toContain('200 OK');
});

it('ends the source when the client leaves', async () => {
  await open(silence);
  await connection.until(/\r\n\r\n/);
  connection.destroy();
  await source.ended;
  expect(source.isAborted).toBe(true);
  expect(world.logger.entriesBesideRequests).toEqual([]);
});

it('does not start the source for a client that left before its reply began', async () => {
  const left = new Promise<void>((resolve) => {
    beforeReply = ({ socket }) => {
      connection.destroy();
      return new Promise((closed) => socket.once('close', closed)).then(() => resolve());
    };
  });
  await open(silence);
  await left;
  // Any other request: the reply to the one before it has begun.
  await world.call('GET', '/nothing');
  expect(source.started).toBe(0);
});

it('asks the source for no more than a slow reader takes, and disconnects one that stalls', async () => {
  await open(endless, HEARTBEAT_MS);
  await connection.until(/\r\n\r\n/);
  connection.pause();
  await source.ended;
  expect(source.produced).toBeLessThan(16 * MEGABYTE);
  connection.resume();
  await connection.untilClosed();
});

it('ends the stream and logs a fault when the source fails', async () => {
  await open(async function* failing() {
    yield { data: 'first' };
    throw new Error('planted');
  });
  expect(await connection.until(/\r\n0\r\n\r\n$/)).toContain('data: first\n\n');
  expect(world.logger.entriesBesideRequests).toEqual([
    { level: 'error', event: 'request_failed', fields: expect.objectContaining({ route: '/events' }) },
  ]);
});

it('ends every stream first when the server closes', async () => {
  await open(silence);
  await connection.until(/\r\n\r\n/);
  expect(await world.http.closeGracefully({ timeoutMs: LONG_MS, lingerMs: 0 })).toBe(true);
  await source.ended;
  expect(await connection.untilClosed()).toMatch(/\r\n0\r\n\r\n$/);
});

it('does not start the source of a stream that is asked for while the server closes', async () => {
  await open(silence);
  await connection.until(/\r\n\r\n/);
  const late = await RawConnection.open(world.port);
  // Any other request: the server has accepted the connection that came before it.
  await world.call('GET', '/nothing');
  const closed = world.http.closeGracefully({ timeoutMs: LONG_MS, lingerMs: LONG_MS });
  late.write(GET);
  expect(await late.untilClosed()).toMatch(/connection: close\r\n[\s\S]*\r\n0\r\n\r\n$/i);
  expect(source.started).toBe(1);
  world.http.server.closeAllConnections();
  await closed;
});

it('replies to HEAD without starting the source', async () => {
  await open(silence);
  await connection.until(/\r\n\r\n/);
  const reply = await world.call('HEAD', '/events');
  expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  expect(source.started).toBe(1);
});

test.each<[ServerSentEvent, string]>([
  [{ data: '' }, 'data: \n\n'],
  [{ data: 'a\r\nb\rc' }, 'data: a\ndata: b\ndata: c\n\n'],
  [{ data: 'a', id: '1\ndata: forged' }, 'id: 1data: forged\ndata: a\n\n'],
  [{ data: 'a', event: 'x\r\ny' }, 'event: xy\ndata: a\n\n'],
])('writes the event %j so that no field can end early', (event, frame) => {
  expect(frameOf(event)).toBe(frame);
});
