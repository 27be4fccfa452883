import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callbackRoutes } from '../../../../src/adapters/http/families/callbacks.ts';
import { createHttpServer, type HttpServer } from '../../../../src/adapters/http/http-server.ts';
import { CALLBACK_BODIES_BYTES_MAX } from '../../../../src/adapters/http/limits.ts';
import type { CallbackContent } from '../../../../src/application/ports/provider-callback.ts';
import { ReceiveCallbacks } from '../../../../src/application/receipts/receive-callbacks.ts';
import { NOW } from '../../../support/builders.ts';
import { heldMemory } from '../../../support/held-memory.ts';
import { portOf } from '../../../support/port-of.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { until } from '../../../support/until.ts';
import { RawConnection } from '../raw-connection.ts';

const CHUNKED = 'Transfer-Encoding: chunked';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
/** So many bodies of a megabyte that has come in a few pieces are held together: a buffer grows to twice of what is in it. */
const FITTING = Math.floor(CALLBACK_BODIES_BYTES_MAX / (2 * MEGABYTE));
const GENUINE = [
  'POST /callbacks/meta HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}',
  `POST /callbacks/meta HTTP/1.1\r\nHost: a\r\n${CHUNKED}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `POST /callbacks/meta HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`,
  'GET /callbacks/meta HTTP/1.1\r\nHost: a\r\n\r\n',
];
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `127.0.0.${11 + index}`);

let http: HttpServer;
let logger: RecordingLogger;
/** The server's ends of open connections: a closed one would keep its body in memory. */
let accepted: Set<Socket>;
/** What each callback waits for behind its body, and how many have done so. */
let stored: Promise<void>;
let complete: number;
let opened: RawConnection[] = [];

beforeEach(async () => {
  logger = new RecordingLogger();
  accepted = new Set();
  stored = Promise.resolve();
  complete = 0;
  const receiveCallbacks = new ReceiveCallbacks({
    providerCallbacks: {
      of: (name) => (name === 'meta' ? { read } : null),
    },
    recordProviderEvents: { execute: async () => {} },
    clock: { now: () => NOW },
    logger,
  });
  let count = 0;
  http = createHttpServer({
    families: [callbackRoutes({ receiveCallbacks, logger })],
    logger,
    requestIds: () => `request-${++count}`,
  });
  http.server.on('connection', (socket: Socket) => {
    accepted.add(socket);
    socket.once('close', () => accepted.delete(socket));
  });
  http.server.listen(0, '127.0.0.1');
  await once(http.server, 'listening');
});

async function read(): Promise<CallbackContent> {
  complete += 1;
  await stored;
  return { kind: 'events', events: [], malformed: 0 };
}

afterEach(async () => {
  for (const connection of opened) connection.destroy();
  opened = [];
  await http.closeGracefully({ timeoutMs: 1_000, lingerMs: 0 });
});

const head = (header: string) => `POST /callbacks/meta HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`;
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

/** Begins as many callbacks from an address, whose bodies are never complete. */
async function sleepers(count: number, from: string, text: string): Promise<RawConnection[]> {
  const begun = await Promise.all(
    Array.from({ length: count }, () => RawConnection.open(portOf(http.server), from)),
  );
  for (const connection of begun) connection.write(text);
  opened.push(...begun);
  return begun;
}

/** Resolves when the server has read so much of each open connection, or of those from one address. */
async function untilRead(bytes: number, from?: string): Promise<void> {
  const isUnread = ({ bytesRead, remoteAddress }: Socket): boolean =>
    bytesRead < bytes && (from === undefined || remoteAddress === from);
  while ([...accepted].some(isUnread)) await setTimeout(20);
}

/** The reply to a whole callback. */
async function callback(text: string): Promise<string> {
  const connection = await RawConnection.open(portOf(http.server));
  opened.push(connection);
  connection.write(text);
  return await connection.until(/\r\n\r\n./);
}

it('every genuine callback is taken while 128 callers from eight addresses send nothing more of theirs', async () => {
  for (const from of addresses(8)) await sleepers(16, from, head(CHUNKED) + chunk(1));
  await untilRead(head(CHUNKED).length + 1);
  for (const text of GENUINE) expect(await callback(text)).toMatch(/^HTTP\/1\.1 200/);
  expect(opened.filter(({ closed }) => closed)).toEqual([]);
});

it.each([
  ['small', `Content-Length: ${64 * KILOBYTE}`, 'x'.repeat(64_000), 400],
  ['large', CHUNKED, chunk(MEGABYTE), 30],
])(
  'however many %s bodies are unfinished, the process holds no more than the limit and takes genuine ones',
  async (_size, header, body, perAddress) => {
    const before = await heldMemory();
    for (const from of addresses(5)) await sleepers(perAddress, from, head(header) + body);
    await untilRead(head(header).length + body.length);
    // Measuring takes the time that the server needs to close connections, so they are counted first.
    await until(() => accepted.size * body.length <= CALLBACK_BODIES_BYTES_MAX);
    // What the closed connections held is let go a moment later.
    await until(async () => (await heldMemory()) - before < CALLBACK_BODIES_BYTES_MAX + 24 * MEGABYTE);
    for (const text of GENUINE) expect(await callback(text)).toMatch(/^HTTP\/1\.1 200/);
    expect(logger.entries.filter(({ event }) => event === 'callback_closed')).toEqual([
      {
        level: 'warn',
        event: 'callback_closed',
        fields: { network: expect.stringMatching(/^127\.0\.0\.1[1-5]$/), count: 1 },
      },
    ]);
  },
);

it('a genuine callback of many receipts is taken beside an attacker with hundreds of addresses that each hold little', async () => {
  const unfinished = head(CHUNKED) + chunk(100 * KILOBYTE);
  const attack = async (network: number, count: number): Promise<void> => {
    const from = (index: number): string => `127.${network}.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    await Promise.all(Array.from({ length: count }, (_, index) => sleepers(1, from(index), unfinished)));
  };
  await attack(1, Math.ceil(CALLBACK_BODIES_BYTES_MAX / (100 * KILOBYTE)));
  await untilRead(unfinished.length);

  const genuine = await RawConnection.open(portOf(http.server), '127.9.0.1');
  opened.push(genuine);
  const half = 'x'.repeat(150 * KILOBYTE);
  const begun = head(`Content-Length: ${2 * half.length}`) + half;
  genuine.write(begun);
  await untilRead(begun.length, '127.9.0.1');
  await attack(2, 20);
  await untilRead(unfinished.length);
  genuine.write(half);
  expect(await genuine.until(/\r\n\r\n./)).toMatch(/^HTTP\/1\.1 200/);
});

it('what callers have sent who left, or whose callback was taken, counts no longer', async () => {
  const unfinished = head(CHUNKED) + chunk(MEGABYTE);
  const left = await sleepers(FITTING, '127.0.0.11', unfinished);
  await untilRead(unfinished.length);
  for (const connection of left) connection.destroy();
  const taken = await sleepers(FITTING, '127.0.0.12', `${unfinished}0\r\n\r\n`);
  for (const connection of taken) await connection.until(/^HTTP\/1\.1 200/);
  const begun = await sleepers(FITTING, '127.0.0.13', unfinished);
  await untilRead(unfinished.length);
  expect(begun.filter(({ closed }) => closed)).toEqual([]);
});

it('a callback that is complete is not closed for others while it is being stored', async () => {
  let store = (): void => undefined;
  stored = new Promise((resolve) => {
    store = resolve;
  });
  const storing = await RawConnection.open(portOf(http.server), '127.0.0.11');
  opened.push(storing);
  storing.write(`${head(CHUNKED)}${chunk(MEGABYTE)}0\r\n\r\n`);
  while (complete === 0) await setTimeout(20);
  await sleepers(FITTING + 10, '127.0.0.11', head(CHUNKED) + chunk(MEGABYTE));
  await untilRead(MEGABYTE);
  store();
  expect(await storing.until(/\r\n\r\n./)).toMatch(/^HTTP\/1\.1 200/);
});
