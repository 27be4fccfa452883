import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { text } from '../../../../src/adapters/http/replies/http-reply.ts';
import { anyone } from '../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';
import type { ObservedReply } from '../../../../src/adapters/http/server/writing/observed-reply.ts';
import { SERVER_LIMITS, type ServerLimits } from '../../../../src/adapters/http/server-limits.ts';
import type { Logger } from '../../../../src/application/ports/logger.ts';
import { heldMemory } from '../../../support/held-memory.ts';
import { until } from '../../../support/until.ts';
import { HttpWorld } from '../http-world.ts';
import { MemoryApi } from '../memory-api.ts';
import { RawConnection } from '../raw-connection.ts';

const MEGABYTE = 1024 * 1024;
const UNREAD_MAX = MEGABYTE / 2;
/** Each holds at least a piece of 64 KiB of a static file: together three times what they may. */
const SILENT_CLIENTS = 12;
const SILENT_ADDRESS = '127.0.0.9';
const READER = '127.0.0.3';
const NEIGHBOUR = '127.0.0.2';
const OPEN_MAX = SERVER_LIMITS.connectionOpenRequestsMax;
/** Enough to fill what the system buffers for a connection, several times over. */
const REQUESTS = OPEN_MAX - 1;
const ROUNDS = 5;

/** Longer than a page of the documentation, and served as often as it is asked for. */
const LARGE = Buffer.alloc(2 * MEGABYTE, 'x');
const large = route({
  method: 'get',
  path: '/large',
  operationId: 'large',
  summary: 'Read a large text',
  description: 'For a test',
  admission: anyone,
  ok: { description: 'The text', kind: 'text' },
  handle: async () => text(LARGE),
});

const NO_LOG: Logger = {
  writesDebug: false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

let world: HttpWorld;
/** The server's ends of the open connections. */
let accepted: Set<Socket>;
let silentClients: RawConnection[];
let replies: number;

beforeEach(async () => {
  replies = 0;
  await open({ unreadBytesMax: UNREAD_MAX, requestsPerAddressMax: 10_000 });
  silentClients = [];
});

/** Keeps no replies and no log, unlike other worlds: memory is what is measured. */
async function open(limits: Partial<ServerLimits>): Promise<void> {
  const observeReply = ({ route }: ObservedReply): void => {
    if (route !== '/healthz') replies += 1;
  };
  const tag = { name: 'Test', description: 'For a test' };
  const families = [...new MemoryApi().families(), { tag, envelope: usualEnvelope, routes: [large] }];
  world = await new HttpWorld({ families, limits, observeReply, logger: NO_LOG }).open();
  accepted = new Set();
  world.http.server.on('connection', (socket: Socket) => {
    accepted.add(socket);
    socket.once('close', () => accepted.delete(socket));
  });
}

afterEach(async () => {
  for (const silentClient of silentClients) silentClient.destroy();
  await world.close();
});

const get = (path: string, header = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`;

/** A connection that sends requests and reads nothing. */
async function silentClient(requests: string, from = SILENT_ADDRESS): Promise<RawConnection> {
  const connection = await RawConnection.open(world.port, from);
  connection.pause();
  connection.write(requests);
  silentClients.push(connection);
  return connection;
}

/** What the sockets of the server have taken and not sent. */
const unsentBytes = () => [...accepted].reduce((sum, socket) => sum + socket.writableLength, 0);

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await world.call('GET', '/healthz', { from: NEIGHBOUR });
  }
}

/** Resolves when no silent client is served any more. */
async function untilStuck(): Promise<void> {
  let before = -1;
  while (replies !== before) {
    before = replies;
    await rounds(ROUNDS);
  }
}

describe('replies that nobody reads', () => {
  it.each([
    ['/docs/swagger-ui-bundle.js', REQUESTS],
    ['/docs/swagger-ui.css', OPEN_MAX],
    ['/openapi.json', OPEN_MAX],
  ])('the process holds little for %s, however many connections ask and do not read', async (path, count) => {
    await world.call('GET', path);
    const before = await heldMemory();
    const requests = get(path).repeat(count);
    for (let index = 0; index < SILENT_CLIENTS; index += 1) await silentClient(requests);
    await untilStuck();
    expect(unsentBytes()).toBeLessThanOrEqual(UNREAD_MAX);
    expect((await heldMemory()) - before).toBeLessThan(4 * MEGABYTE);
  });

  it('closes connections of the address that reads nothing, and none of another that reads slowly', async () => {
    const path = '/large';
    const reader = await silentClient(get(path).repeat(3) + get('/docs', 'Connection: close\r\n'), READER);
    await rounds(5);
    for (let count = 0; count < SILENT_CLIENTS; count += 1) await silentClient(get(path).repeat(REQUESTS));
    await until(() => accepted.size <= SILENT_CLIENTS / 2);
    reader.resume();
    const received = await reader.untilClosed();
    expect(received.match(/HTTP\/1.1 200 OK/g)).toHaveLength(4);
    expect(received.endsWith('</html>\n')).toBe(true);
  });

  it('serves the next requests of a connection when its client has read the large reply before them', async () => {
    const path = '/large';
    const slow = await silentClient(get(path).repeat(REQUESTS) + get('/docs', 'Connection: close\r\n'));
    await untilStuck();
    expect(replies).toBeLessThan(REQUESTS / 2);
    slow.resume();
    const received = await slow.untilClosed();
    expect(received.match(/HTTP\/1.1 200 OK/g)).toHaveLength(REQUESTS + 1);
    expect(received.endsWith('</html>\n')).toBe(true);
  });

  it('sends one and the same bytes to every reader of a text in memory', async () => {
    const path = '/large';
    await world.call('GET', path);
    const before = await heldMemory();
    for (let count = 0; count < SILENT_CLIENTS; count += 1) await silentClient(get(path).repeat(16));
    await rounds(20);
    expect((await heldMemory()) - before).toBeLessThan(10 * MEGABYTE);
  });
});

describe('a connection that is closed for others', () => {
  it('releases the places of its requests', async () => {
    await world.close();
    await open({ unreadBytesMax: MEGABYTE / 16, requestsPerAddressMax: 1 });
    const first = await silentClient(get('/large').repeat(2));
    const closed = first.untilClosed();
    await rounds(10);
    await silentClient(get('/large').repeat(2), READER);
    first.resume();
    await closed;
    await until(async () => (await world.call('GET', '/info', { from: SILENT_ADDRESS })).status === 200);
  });
});
