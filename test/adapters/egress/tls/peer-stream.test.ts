import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HEADER_LINES_MAX } from '../../../../src/adapters/egress/header-lines.ts';
import {
  HANDSHAKE_FREE_MS,
  type PeerLimits,
  PeerStream,
  READ_DURING_WRITE_BYTES_MAX,
  RECEIVER_LIMITS,
  RESPONSE_BYTES_MAX,
  RESPONSE_FREE_MS,
} from '../../../../src/adapters/egress/tls/peer-stream.ts';
import type { PeerTime } from '../../../../src/adapters/egress/tls/peer-time.ts';
import type { PeerWork } from '../../../../src/adapters/egress/tls/peer-work.ts';
import { until } from '../../../support/until.ts';

const HANDSHAKE = 22;
const DATA = 23;
const KILOBYTE = 1_024;

let server: Server;
let receiver: Socket;
/** Our end of the connection. */
let socket: Socket;
let stream: PeerStream;
/** What TLS would say: bytes of requests that it has written, and of responses that were not read yet. */
let secured: PassThrough & { bytesWritten: number };
/** What was given to TLS at a time, in bytes. */
let given: number[];
/** Work that waits, while `isHeld`. */
let held: PeerWork[];
let isHeld: boolean;
let owed: number;
let dropped: number;
/** How long TLS computes at a time. */
let computesMs: number;
let hasEnded: boolean;
let failure: Error | null;

/** What behind the handshake is limited by nothing but the time of its owner. */
const SESSION: PeerLimits = { bytesMax: () => Number.POSITIVE_INFINITY, freeMs: () => null, parses: false };

beforeEach(() => open(RECEIVER_LIMITS));
afterEach(close);

async function open(limits: PeerLimits): Promise<void> {
  [given, held, isHeld, owed, dropped, computesMs, hasEnded, failure] = [[], [], false, 0, 0, 0, false, null];
  server = createServer((accepted) => {
    receiver = accepted;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
  const time: Pick<PeerTime, 'run' | 'drop'> = {
    run: (_, work) => {
      if (isHeld) held.push(work);
      else compute(work);
    },
    drop: () => {
      dropped += 1;
    },
  };
  stream = new PeerStream(socket, 'p', time, limits);
  stream.on('data', (chunk: Buffer) => given.push(chunk.length));
  stream.once('end', () => {
    hasEnded = true;
  });
  stream.on('error', () => undefined);
  secured = Object.assign(new PassThrough(), { bytesWritten: 0 });
  secured.on('error', (error) => {
    failure = error;
    stream.destroy();
  });
}

function close(): void {
  stream.destroy();
  receiver.destroy();
  server.close();
}

function compute(work: PeerWork): void {
  while (work.isReady) {
    work.compute();
    owed += work.spend(computesMs);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const record = (kind: number, bytes: number): Buffer =>
  Buffer.concat([Buffer.from([kind, 3, 3, bytes >> 8, bytes & 255]), Buffer.alloc(bytes)]);

async function give(bytes: Buffer): Promise<void> {
  const end = sum(given) + bytes.length;
  receiver.write(bytes);
  await until(() => sum(given) === end);
}

/** The piece that ends the handshake ends here. */
function beginResponses(): void {
  stream.beginResponses(secured as unknown as TLSSocket);
  stream.spend(0);
}

it('a handshake waits for the debt of its project, and owes what takes longer than it is free', async () => {
  expect(stream.waitsForDebt).toBe(true);
  await give(record(HANDSHAKE, 3 * KILOBYTE));
  expect(given).toHaveLength(1);
  expect(owed).toBe(0);
  computesMs = HANDSHAKE_FREE_MS + 5;
  await give(record(HANDSHAKE, 3 * KILOBYTE));
  expect(owed).toBe(5);
});

it('what ends a handshake is counted as a part of it', async () => {
  stream.beginResponses(secured as unknown as TLSSocket);
  expect(stream.spend(HANDSHAKE_FREE_MS)).toBe(0);
  expect(stream.spend(RESPONSE_FREE_MS + 1)).toBe(1);
});

it('a response waits for no debt until it has used up what is free, and the next one has it anew', async () => {
  beginResponses();
  computesMs = RESPONSE_FREE_MS - 1;
  await give(record(DATA, 500));
  expect([stream.waitsForDebt, owed]).toEqual([false, 0]);
  await give(record(DATA, 500));
  expect(stream.waitsForDebt).toBe(true);
  expect(owed).toBe(RESPONSE_FREE_MS - 2);
  secured.bytesWritten += 100;
  await give(record(DATA, 500));
  expect([stream.waitsForDebt, owed]).toEqual([false, RESPONSE_FREE_MS - 2]);
});

it('a long response is given to TLS in pieces', async () => {
  beginResponses();
  await give(record(DATA, 3 * KILOBYTE));
  expect(given.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...given)).toBeLessThanOrEqual(KILOBYTE);
});

it('the parser reads within the time that is measured', async () => {
  beginResponses();
  secured.bytesWritten = 100;
  let isMeasured = false;
  const readMeasured: boolean[] = [];
  stream.on('data', (chunk: Buffer) => secured.write(chunk));
  secured.on('readable', () => {
    if (secured.read() !== null) readMeasured.push(isMeasured);
  });
  isHeld = true;
  receiver.write(record(DATA, 500));
  await until(() => held.length === 1);
  isMeasured = true;
  stream.compute();
  isMeasured = false;
  expect([readMeasured, secured.readableLength, failure]).toEqual([[true], 0, null]);
});

it('a response that comes before a request ends the connection', async () => {
  beginResponses();
  secured.write('H');
  receiver.write(record(DATA, 100));
  await until(() => failure !== null);
  expect(failure?.name).toBe('ResponseTooEarly');
});

it('nothing is given to TLS while it does not read, so that nothing is computed without being timed', async () => {
  beginResponses();
  stream.pause();
  // It reads no more from the connection, because TLS reads nothing.
  const paused = once(socket, 'pause');
  receiver.write(record(DATA, 3 * KILOBYTE));
  await paused;
  expect([given, stream.readableLength]).toEqual([[], 0]);
  computesMs = RESPONSE_FREE_MS;
  stream.resume();
  await until(() => sum(given) === 3 * KILOBYTE + 5);
  expect(owed).toBeGreaterThanOrEqual(2 * RESPONSE_FREE_MS);
});

it('work of a stream that is destroyed is dropped', async () => {
  isHeld = true;
  receiver.write(record(HANDSHAKE, 100));
  await until(() => held.length === 1);
  stream.destroy();
  expect([dropped, stream.isReady]).toEqual([1, false]);
});

it('a response that was read whole is given to TLS, also when the receiver has closed the connection meanwhile', async () => {
  beginResponses();
  isHeld = true;
  const closed = once(stream, 'close');
  receiver.end(record(DATA, 500));
  await once(socket, 'close');
  expect(held).toHaveLength(1);
  expect(stream.destroyed).toBe(false);
  compute(stream);
  await until(() => hasEnded);
  expect(sum(given)).toBe(505);
  await closed;
});

it('more bytes than a response may have end the connection, and a request begins a new response', async () => {
  beginResponses();
  const half = record(DATA, RESPONSE_BYTES_MAX / 2 - 10);
  await give(half);
  await give(half);
  secured.bytesWritten += 1;
  await give(half);
  await give(half);
  expect(failure).toBe(null);
  receiver.write(record(DATA, 100));
  await until(() => failure !== null);
  expect(failure?.name).toBe('ResponseTooLong');
});

it('more header lines in a row than a response may have end the connection, after the parser has read them', async () => {
  beginResponses();
  let read = '';
  secured.on('readable', () => {
    read += secured.read() ?? '';
  });
  let plain = '';
  stream.on('data', () => {
    secured.write(plain);
    plain = '';
  });
  const respond = async (text: string) => {
    plain = text;
    await give(record(DATA, 100));
  };
  const most = `HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(HEADER_LINES_MAX)}`;
  secured.bytesWritten = 100;
  await respond(`${most}\r\nb:\r\n`);
  secured.bytesWritten = 200;
  await respond(most);
  expect([failure, read]).toEqual([null, `${most}\r\nb:\r\n${most}`]);
  plain = 'b:\r\n';
  receiver.write(record(DATA, 100));
  await until(() => failure !== null);
  expect([failure?.name, read.endsWith('b:\r\n')]).toEqual(['ResponseTooLong', true]);
});

it('a second handshake ends the connection, and TLS sees nothing of it', async () => {
  beginResponses();
  await give(Buffer.concat([record(20, 1), record(HANDSHAKE, 40)]));
  const before = sum(given);
  receiver.write(record(HANDSHAKE, 28));
  await until(() => failure !== null);
  expect([failure?.name, sum(given)]).toEqual(['HandshakeFailed', before]);
});

it('all that comes in a session uses the free time of its owner, without an end, and is not read as HTTP', async () => {
  close();
  await open(SESSION);
  beginResponses();
  secured.write('H');
  computesMs = RESPONSE_FREE_MS + 1;
  for (let part = 0; part < 3; part += 1) await give(record(DATA, RESPONSE_BYTES_MAX / 2));
  expect([stream.waitsForDebt, owed, failure]).toEqual([true, 0, null]);
});

it('a peer that sends and reads nothing ends the connection, after a mebibyte', async () => {
  close();
  await open(SESSION);
  beginResponses();
  receiver.pause();
  const half = record(DATA, READ_DURING_WRITE_BYTES_MAX / 64);
  stream.write(Buffer.alloc(64 * READ_DURING_WRITE_BYTES_MAX));
  for (let part = 0; part < 62; part += 1) await give(half);
  expect(failure).toBe(null);
  for (let part = 0; part < 4; part += 1) receiver.write(half);
  await until(() => failure !== null);
  expect(failure?.name).toBe('NothingRead');
});

it('a peer that reads what is written may send without an end', async () => {
  close();
  await open(SESSION);
  beginResponses();
  receiver.resume();
  for (let part = 0; part < 80; part += 1) {
    await new Promise((resolve) => stream.write('x', resolve));
    await give(record(DATA, READ_DURING_WRITE_BYTES_MAX / 64));
  }
  expect(failure).toBe(null);
});
